"""What is kept of a fit at some times, or with half the digits, is what the fit of all has there."""

import numpy as np
import pytest
import xarray as xr

from icb_pymc import fit, from_arrays
from icb_pymc.errors import InputError
from icb_pymc.models import nb_icb
from icb_pymc.results.inference_data import group, group_names
from icb_pymc.results.traces import read_trace, write_trace
from icb_pymc.sample.kept_draws import KeptDraws
from icb_pymc.sample.pointwise import fits_in

OPTIONS = {"draws": 12, "tune": 8, "chains": 2, "seed": 3, "progressbar": False}
SHORT = OPTIONS | {"log_likelihood": False}
LEARNT = {"belief", "final_belief", "share_learnt", "rho_env", "rho_env_scale", "sigma", "strength"}
OVER_TIME = {"nb_icb": ("belief", "rho"), "b_icb": ("belief", "rho", "reward")}


@pytest.fixture(scope="module", params=OVER_TIME, name="model")
def model_name(request):
    return request.param


@pytest.fixture(scope="module")
def full(model, dated_decisions):
    """A fit that keeps everything."""
    return group(fit(model, dated_decisions, keep_latents=True, dtype="float64", **SHORT), "posterior")


@pytest.fixture(scope="module")
def thinned(model, dated_decisions):
    return fit(model, dated_decisions, keep_latents=True, every=7, **OPTIONS)


def test_every_nth_time_with_half_the_digits_is_what_the_full_fit_has_there(model, full, thinned):
    posterior = group(thinned, "posterior")
    assert set(posterior.data_vars) == set(full.data_vars)
    assert set(posterior.dims) == set(full.dims)
    for name in OVER_TIME[model]:
        assert posterior[name].dtype == np.float32
        assert posterior[name].dims == full[name].dims
        xr.testing.assert_equal(posterior[name], full[name].isel(time=slice(None, None, 7)).astype("float32"))
    for name in set(full.data_vars) - set(OVER_TIME[model]):
        xr.testing.assert_equal(posterior[name], full[name])


def test_chosen_times_are_what_the_full_fit_has_there(model, full, dated_decisions):
    times = dated_decisions["time"].values[[2, 3, 30]]
    kept = group(fit(model, dated_decisions, keep_latents=True, times=times, dtype="float64", **SHORT), "posterior")
    for name in OVER_TIME[model]:
        assert kept[name].dtype == np.float64
        xr.testing.assert_equal(kept[name], full[name].sel(time=times))


def test_times_may_be_given_as_words_and_in_any_order(dated_decisions):
    days = dated_decisions["time"].dt.strftime("%Y-%m-%d").values[[30, 2]]
    kept = group(fit("nb_icb", dated_decisions, times=list(days), **SHORT), "posterior")
    np.testing.assert_array_equal(kept["time"], dated_decisions["time"].values[[2, 30]])


def test_without_latents_only_beliefs_and_parameters_are_kept(model, dated_decisions):
    kept = group(fit(model, dated_decisions, every=10, **SHORT), "posterior")
    assert set(kept.data_vars) == {"nb_icb": {"belief", "start_scale", "total_movement"}, "b_icb": LEARNT}[model]
    assert kept.sizes["time"] == 4


def test_laplace_draws_the_same_gaussian_at_the_times_that_it_is_asked_to_keep(model, dated_decisions):
    known = {"strength": 10.0, "sigma": 1.0, "rho_env_scale": 1.0} if model == "b_icb" else {}
    given = {"method": "laplace", "keep_latents": True, "draws": 2000, "seed": 3, "log_likelihood": False}
    whole, kept = (
        group(fit(model, dated_decisions, known, progressbar=False, **given, **options), "posterior")
        for options in ({"dtype": "float64"}, {"every": 9})
    )
    for name in OVER_TIME[model]:
        expected, found = whole[name].isel(time=slice(None, None, 9)), kept[name]
        assert found.dtype == np.float32
        assert found.dims == expected.dims
        np.testing.assert_array_equal(found["time"], expected["time"])
        sd = expected.std("draw")
        # Means of 2,000 draws each, apart by at most five standard errors.
        assert float((abs(found.mean("draw") - expected.mean("draw")) / sd).max()) < 5 * np.sqrt(2 / 2000)
        assert float(abs(np.log(found.std("draw") / sd)).max()) < 0.12


def test_the_decisions_stay_whole_and_a_thinned_trace_comes_back_as_it_was_written(thinned, dated_decisions, tmp_path):
    assert group(thinned, "observed_data").sizes["time"] == dated_decisions.sizes["time"]
    path = tmp_path / "trace.nc"
    write_trace(thinned, path)
    copy = read_trace(path)
    assert copy.attrs == thinned.attrs | {"schema_version": 1}
    assert sorted(group_names(copy)) == sorted(group_names(thinned))
    for name in group_names(thinned):
        xr.testing.assert_identical(group(copy, name).drop_attrs(), group(thinned, name).drop_attrs())
    assert group(copy, "posterior")["belief"].dtype == np.float32


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"every": 0}, "every=0: give at least one."),
        ({"every": -2}, "every=-2: give at least one."),
        ({"dtype": "float16"}, "dtype='float16': it must be 'float64' or 'float32'."),
        ({"every": 2, "times": ["2001-01-01"]}, "give every or times, not both."),
        ({"times": ["1999-05-05"]}, "times: there is no decision at 1999-05-05"),
        ({"times": ["soon"]}, "times=['soon']: give dates"),
        ({"times": []}, "times: the list is empty"),
        ({"every": 2.5}, "every=2.5: give a whole number"),
        ({"every": 2, "method": "em"}, "method 'em' keeps all times in full"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_one_sentence(options, sentence, dated_decisions):
    with pytest.raises(InputError) as refusal:
        fit("nb_icb", dated_decisions, **options, **OPTIONS)
    assert str(refusal.value).startswith(sentence)
    assert "\n" not in str(refusal.value)


def test_an_unknown_number_is_refused_too(dated_decisions):
    numbered = dated_decisions.assign_coords(time=np.arange(1, 41))
    with pytest.raises(InputError, match="there is no decision at 41"):
        fit("nb_icb", numbered, times=[1, 41], **OPTIONS)
    with pytest.raises(InputError, match=r"there is no decision at 1\.5"):
        fit("nb_icb", numbered, times=[1.5], **OPTIONS)


def test_a_long_log_is_thinned_by_default_and_its_likelihood_is_of_all_times(dated_decisions, monkeypatch):
    """The draws are those of a fit that keeps everything, and every=1 keeps all."""
    options = OPTIONS | {"draws": 40}
    whole = fit("nb_icb", dated_decisions, every=1, dtype="float64", **options)
    monkeypatch.setattr("icb_pymc.sample.kept_draws.MOST_BYTES", 2 * 40 * 4 * 4 * 5)
    monkeypatch.setattr("icb_pymc.sample.kept_draws.LEAST_TIMES", 2)
    for given, positions in (({}, [0, 10, 20, 29, 39]), ({"every": 1}, range(40))):
        trace = fit("nb_icb", dated_decisions, **given, **options)
        posterior, expected = group(trace, "posterior"), group(whole, "posterior")
        np.testing.assert_array_equal(posterior["position"], positions)
        xr.testing.assert_equal(posterior["belief"], expected["belief"].isel(time=positions).astype("float32"))
        likelihood = group(trace, "log_likelihood")["chosen"]
        assert likelihood.dtype == np.float32
        np.testing.assert_allclose(likelihood, group(whole, "log_likelihood")["chosen"], atol=1e-5)


def test_a_default_trace_of_ten_thousand_decisions_takes_less_than_60_megabytes():
    """By its arithmetic: eight features, four chains of 1,000 draws, no likelihood of each choice in each draw."""
    times = np.arange(10_000)
    arrivals = xr.Dataset({"context": (("time", "action", "feature"), np.zeros((10_000, 2, 8)))}, {"time": times})
    kept = KeptDraws(arrivals, None, None, "float32", False, draws=4_000)
    assert not fits_in(4_000, len(times))
    assert (kept.index[0], kept.index[-1], len(kept.index)) == (0, 9_999, 500)
    # Deflated, draws take about 0.7 of their bytes, since signs and exponents repeat.
    draws = 4_000 * kept.bytes_per_draw(nb_icb(_with_choices(arrivals)))
    assert 0.8 * draws + arrivals["context"].nbytes < 60e6


def _with_choices(arrivals):
    context = np.random.default_rng(0).normal(size=arrivals["context"].shape)
    return from_arrays(context, np.zeros(len(context), int))
