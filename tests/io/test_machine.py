import numpy as np
import pytest

from icb_pymc import fit
from icb_pymc.errors import InputError
from icb_pymc.io import machine
from icb_pymc.io.machine import available_memory, check_room
from icb_pymc.models import b_icb, nb_icb
from icb_pymc.sample.kept_draws import KeptDraws


def test_a_fit_whose_draws_would_not_fit_is_refused_before_it_begins(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 3 * 2**30)
    with pytest.raises(InputError) as refusal:
        check_room(bytes_per_draw=2**20, draws=1000, chains=4)
    sentence = str(refusal.value)
    for words in ("4 chains of 1000 draws need 7.8 GiB", "3.0 GiB are free", "every=", "times=", "dtype='float32'"):
        assert words in sentence
    assert "\n" not in sentence


def test_what_just_fits_is_let_through(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: machine.COPIES * 1000 * 10 * 2)
    check_room(bytes_per_draw=1000, draws=10, chains=2)
    with pytest.raises(InputError, match="KiB"):
        check_room(bytes_per_draw=1001, draws=10, chains=2)


def test_the_free_memory_of_this_machine_is_a_sensible_number():
    assert 2**24 < available_memory() < 2**50


@pytest.mark.parametrize("method", ["mcmc", "laplace"])
def test_fit_asks_for_room_and_options_that_help_let_it_through(method, dated_decisions, monkeypatch):
    options = {"draws": 20, "seed": 1, "method": method, "progressbar": False}
    options |= {"tune": 5, "chains": 1} if method == "mcmc" else {}
    every_time = machine.COPIES * 20 * 40 * 4 * 8
    monkeypatch.setattr(machine, "available_memory", lambda: every_time - 1)
    with pytest.raises(InputError, match=r"keep fewer times \(every=10"):
        fit("nb_icb", dated_decisions, **options)
    fit("nb_icb", dated_decisions, every=2, **options)
    fit("nb_icb", dated_decisions, dtype="float32", **options)


@pytest.mark.parametrize(
    ("every", "dtype", "latents"),
    [(1, "float64", False), (1, "float64", True), (3, "float64", True), (7, "float32", False)],
)
@pytest.mark.parametrize("declare", [nb_icb, b_icb])
def test_the_estimate_is_what_the_kept_draws_take(declare, every, dtype, latents, dated_decisions):
    """All variables at the times and with the digits kept; but for rewards, which beliefs are computed from later."""
    recording = KeptDraws(dated_decisions, every, None, dtype, latents)
    times, features, size = len(range(0, 40, every)), 4, np.dtype(dtype).itemsize
    expected = times * features * size * (2 if latents else 1)
    if declare is b_icb:
        # Rewards at all times, rho_env and the strength, in full.
        expected += 8 * (40 + features + 1)
    assert recording.bytes_per_draw(declare(dated_decisions)) == expected
