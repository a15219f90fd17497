"""CP-IRL: a separate preference in each of M intervals, whose ends are estimated from the choices."""

from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import Preset, choose, constant_within, decisions_model, hyperparameter, linear_utility, specify
from icb_pymc.declare.change_points import SegmentTable, score_segments
from icb_pymc.declare.folds import AT_MOST_FIVE, declare_folds, fold_weights, warn_of_improper_folds
from icb_pymc.declare.session_jumps import warn_of_unused_sessions
from icb_pymc.declare.spec import RANDOM_WALK
from icb_pymc.errors import InputError

# Why this model cannot be judged by its forecasts.
HINDSIGHT = "its change points are computed from all choices, including later ones"


def cp_irl(
    decisions: xr.Dataset,
    *,
    segments: int | str | None = AT_MOST_FIVE,
    length: Any = None,
    alpha: Any = 1.0,
    prior: str = "gaussian",
    prior_mean: Any = None,
    prior_covariance: Any = None,
    score: str = "evidence",
    score_seed: int = 0,
    table: SegmentTable | None = None,
) -> pm.Model:
    """rho_t = rho^(j) for t in {t^(j-1) + 1, ..., t^(j)}, a_t ~ softmax(alpha <rho_t, x_t[a]>) (Likmeta et al., 2021).

    The change points t^(j) maximise the sum of segment scores, by dynamic programming when the model is declared. From
    then on they are known: data `change_point` of the model and of its trace.

    Parameters
    ----------
    decisions : Dataset
        Decisions with `chosen`; with a `table` also arrivals to simulate.
    segments : int or None
        M; if None, the number with the highest evidence. By default 5, or fewer in a log of fewer sub-trajectories.
    length : int, optional
        Number of decisions in a sub-trajectory; change points lie at the ends of sub-trajectories. By default 10, or in
        a log of more than 2,000 decisions so many that there are 200 sub-trajectories.
    alpha : number
        Inverse temperature of the softmax; with a `table` it may be a distribution.
    prior, prior_mean, prior_covariance
        Prior of each rho^(j), as in `b_irl`.
    score : {"evidence", "likelihood"}
        Score of a segment, see `icb_pymc.declare.change_points.score_segments`; the paper uses the likelihood.
    score_seed : int
        Seed of the draws at which the likelihood is computed.
    table : SegmentTable, optional
        Result of `score_segments`, instead of scoring again: one table serves any M.

    Returns
    -------
    pm.Model

    Raises
    ------
    InputError
        If an option is not valid, there are no choices and no table, or the table is of other decisions.

    Warns
    -----
    InputWarning
        If the posterior of a segment is not proper under the flat prior, or the decisions have sessions, whose
        boundaries are not used.

    Examples
    --------
    >>> import numpy as np
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays(np.tile([[[1.0], [0.0]]], (40, 1, 1)), [0] * 20 + [1] * 20)
    >>> model = icb_pymc.models.irl.cp_irl(decisions, segments=2, alpha=1.0, prior_covariance=4.0)
    >>> model["change_point"].get_value().tolist()
    [20, 40]
    """
    warn_of_unused_sessions(
        decisions, "cp_irl", "weights may change at any of its sub-trajectories, with the same prior"
    )
    if table is None:
        if "chosen" not in decisions:
            raise InputError("CP-IRL computes its change points from choices; to simulate it, give the table of a log.")
        table = score_segments(
            decisions,
            length=length,
            alpha=alpha,
            prior=prior,
            prior_mean=prior_mean,
            prior_covariance=prior_covariance,
            score=score,
            score_seed=score_seed,
        )
    elif table.boundaries[-1] != decisions.sizes["time"]:
        raise InputError(
            f"the table is of {table.boundaries[-1]} decisions, but there are {decisions.sizes['time']}: score these."
        )
    fold = table.fold_of_decision(table.most_probable_number() if segments is None else segments)
    with decisions_model(decisions) as model:
        alpha = hyperparameter("alpha", alpha)
        fold_of_decision = declare_folds(fold)
        weights = fold_weights(decisions, alpha, prior, prior_mean, prior_covariance)
        belief = constant_within(weights, fold_of_decision)
        pm.Deterministic("belief", belief, dims=("time", "feature"))
        choose(linear_utility(belief, model["context"], alpha))
    if prior == "flat":
        warn_of_improper_folds(decisions, fold)
    return model


def paper(decisions: xr.Dataset) -> Preset:
    """The published experiments: flat prior, segments of 10 scored by likelihood, the random walk of B-IRL in each."""
    return Preset({"length": 10, "alpha": 20.0, "prior": "flat", "score": "likelihood"}, RANDOM_WALK)


specify(cp_irl, paper=paper, hindsight=HINDSIGHT)
