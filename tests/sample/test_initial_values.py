import numpy as np
from helpers.arrivals import make_arrivals
from helpers.settings import NB_ICB

from icb_pymc.models import nb_icb
from icb_pymc.sample.initial_values import scattered_initial_values


def test_chains_start_at_different_preferences_strong_enough_to_matter():
    arrivals = make_arrivals(30, 2, 3)
    decisions = arrivals.assign(chosen=("time", np.zeros(30, int)))
    starts = scattered_initial_values(nb_icb(decisions, **NB_ICB), decisions, 20.0, 8, seed=0)
    weights = np.array([start["rho"] for start in starts])
    assert (weights == weights[:, :1]).all()
    contrast = 20.0 * np.einsum("ctk,tk->ct", weights, decisions["context"][:, 1] - decisions["context"][:, 0])
    assert 0.5 < np.sqrt((contrast**2).mean()) < 8
    assert len(np.unique(weights[:, 0, 0])) == 8


def test_where_rho_is_the_belief_itself_the_start_is_left_to_pymc():
    arrivals = make_arrivals(5, 2, 3)
    decisions = arrivals.assign(chosen=("time", np.zeros(5, int)))
    assert scattered_initial_values(
        nb_icb(decisions, **NB_ICB | {"sampling_covariance": 0.0}), decisions, 20.0, 2, seed=0
    ) == [{}, {}]
