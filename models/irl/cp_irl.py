"""CP-IRL: a preference of its own in each of M intervals, whose ends are found from the choices."""

from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import Preset, choose, constant_within, decisions_model, hyperparameter, linear_utility, specify
from icb_pymc.declare.change_points import SegmentTable, score_segments
from icb_pymc.declare.folds import declare_folds, fold_weights, warn_of_improper_folds
from icb_pymc.declare.spec import RANDOM_WALK
from icb_pymc.errors import InputError

# Why this model cannot be judged by its forecasts.
HINDSIGHT = "its change points are found from all choices, those to come included"


def cp_irl(
    decisions: xr.Dataset,
    *,
    segments: Any = 5,
    length: Any = 10,
    alpha: Any = 20.0,
    prior: str = "gaussian",
    prior_mean: Any = None,
    prior_covariance: Any = None,
    score: str = "evidence",
    score_seed: int = 0,
    table: SegmentTable | None = None,
) -> pm.Model:
    """rho_t = rho^(j) for t in {t^(j-1) + 1, ..., t^(j)}, a_t ~ softmax(alpha <rho_t, x_t[a]>) (Likmeta et al., 2021).

    The change points t^(j) are those with the highest sum of segment scores, found by dynamic programming while
    the model is declared; then they are taken as known, as data `change_point` of the model and of its trace.

    Parameters
    ----------
    decisions : Dataset
    segments : int or None
        M; with None, the number that has the highest evidence.
    length : int
        Change points lie at the ends of sub-trajectories of so many decisions.
    alpha : number
        Inverse temperature of the softmax; with a `table` it may be a distribution.
    prior, prior_mean, prior_covariance
        Of each rho^(j), as in `b_irl`.
    score : {"evidence", "likelihood"}
        What a segment is judged by, see `score_segments`; the paper's is the likelihood, at draws that `score_seed`
        fixes.
    table : SegmentTable, optional
        From `icb_pymc.declare.change_points.score_segments`, in place of scoring anew: one table serves any M.
    """
    if table is None:
        if "chosen" not in decisions:
            raise InputError("CP-IRL finds its change points in choices; to simulate it, give the table of a log.")
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
        weights = fold_weights(prior, prior_mean, prior_covariance)
        belief = constant_within(weights, fold_of_decision)
        pm.Deterministic("belief", belief, dims=("time", "feature"))
        choose(linear_utility(belief, model["context"], alpha))
    if prior == "flat":
        warn_of_improper_folds(decisions, fold)
    return model


def paper(decisions: xr.Dataset) -> Preset:
    """The published experiments: flat prior, segments of 10 judged by their likelihood, B-IRL's random walk in each."""
    return Preset({"length": 10, "alpha": 20.0, "prior": "flat", "score": "likelihood"}, RANDOM_WALK)


specify(cp_irl, paper=paper, hindsight=HINDSIGHT)
