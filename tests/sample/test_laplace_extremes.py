"""Laplace's method on extreme logs and settings: a finite result, or one sentence; never another exception."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from icb_pymc import fit, from_arrays
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import group, group_names

SCALES = st.sampled_from([1.0, 1.0, 1e-8, 1e-3, 1e4, 1e8])
ALPHAS = st.sampled_from([1.0, 0.5, 20.0, 1e6, 1e-6, 0.0])
# None is the default.
VARIANCES = st.sampled_from([None, 1.0, 0.0, 1e-4, 100.0, 1e16, 1e-16, 1e-300, 1e99, 1e300])
MEANS = st.sampled_from([0.0, -0.5, 1e8])


@st.composite
def logs(draw):
    """A log of 1 to 6 decisions between 2 to 4 candidates, some of them missing, identical or collinear."""
    steps, actions, features = draw(st.integers(1, 6)), draw(st.integers(2, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    context = rng.normal(size=(steps, actions, features))
    kind = draw(st.sampled_from(["any", "identical", "collinear features", "collinear candidates", "zero"]))
    if kind == "identical":
        context[:] = context[:, :1]
    elif kind == "collinear features":
        context[:] = context[:, :, :1]
    elif kind == "collinear candidates":
        context[:] = context[:, :1] * np.arange(1, actions + 1)[:, None]
    elif kind == "zero":
        context[:, :, -1] = 0.0
    available = rng.random((steps, actions)) < draw(st.sampled_from([1.0, 0.7, 0.2]))
    # Perfect separation by the first feature, or choices that tell nothing.
    value = context[:, :, 0] if draw(st.booleans()) else rng.random((steps, actions))
    chosen = np.where(available, value, -np.inf).argmax(axis=1)
    available[np.arange(steps), chosen] = True
    context *= draw(st.lists(SCALES, min_size=features, max_size=features))
    days = {
        "numbers": None,
        "equal": np.zeros(steps, dtype=int),
        "dates": np.arange(steps) * draw(st.sampled_from([1, 3000])),
        "equal dates": np.repeat(0, steps),
    }
    clock = draw(st.sampled_from(list(days)))
    time = days[clock]
    if "dates" in clock:
        time = np.datetime64("2001-01-01", "ns") + time.astype("timedelta64[D]")
    return from_arrays(context, chosen, available=available, time=time)


NB_ICB = st.fixed_dictionaries(
    {"innovation_covariance": VARIANCES, "start_covariance": VARIANCES, "alpha": ALPHAS, "start_mean": MEANS}
    | {"sampling_covariance": VARIANCES.filter(lambda value: value is not None)}
)
B_IRL = st.fixed_dictionaries({"prior_covariance": VARIANCES, "alpha": ALPHAS, "prior_mean": MEANS})
MODELS = st.one_of(NB_ICB.map(lambda given: ("nb_icb", given)), B_IRL.map(lambda given: ("b_irl", given)))


def check(decisions, model, hyperparameters):
    """Fit; everything in the result is finite, or the fit is refused."""
    try:
        result = fit(model, decisions, hyperparameters, method="laplace", draws=3, seed=0, progressbar=False)
    except InputError:
        return
    assert np.isfinite(result.attrs["log_evidence"])
    for name in set(group_names(result)) & {"posterior", "gaussian", "log_likelihood", "choice_probabilities"}:
        for variable in group(result, name).data_vars.values():
            assert np.isfinite(variable).all(), f"{name}: {variable.name}"


def run(examples):
    """The property, over so many logs and settings."""

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None, phases=[Phase.generate])
    @given(decisions=logs(), asked=MODELS)
    def on_every_log(decisions, asked):
        check(decisions, *asked)

    return on_every_log


@pytest.mark.filterwarnings("ignore")
def test_the_result_is_finite_or_the_fit_is_refused():
    run(12)()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_result_is_finite_or_the_fit_is_refused_over_many_logs():
    run(60)()
