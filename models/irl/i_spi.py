"""I-SPI: a uniform policy with one soft policy improvement after each decision."""

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc.declare import (
    Preset,
    choose,
    constant_within,
    decisions_model,
    hyperparameter,
    linear_utility,
    specify,
    warn_of_unused_sessions,
)
from icb_pymc.declare.folds import declare_folds, fold_weights, one_fold, warn_of_improper_folds
from icb_pymc.declare.spec import RANDOM_WALK
from icb_pymc.errors import InputError

READINGS = ("improvement", "sharpening")


def i_spi(
    decisions: xr.Dataset,
    *,
    alpha: Any = 1.0,
    reading: str = "improvement",
    prior: str = "gaussian",
    prior_mean: Any = None,
    prior_covariance: Any = None,
) -> pm.Model:
    """pi_{t+1}(x)[a] ~ exp(alpha Q_t(x, a)), Q_t(x, a) = <rho_env, x[a]> + E_{x'}[V_t(x')], pi_1 uniform.

    These are the soft policy improvements of Jacq et al. (2019), one after each decision. The next context does not
    depend on the action, so E_{x'}[V_t(x')] is the same for all actions and cancels in the softmax: for any contexts,
    pi_t is soft-optimal from the second decision on. This is B-IRL with a sharpness of 0 for the first decision and 1
    for the others.

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals to simulate.
    alpha : number
        Inverse temperature of an improved policy; it may be a distribution.
    reading : {"improvement", "sharpening"}
        ``"improvement"`` is the above, as in the paper's appendix. ``"sharpening"`` follows its main text, where the
        agent acts less and less at random: the sharpness grows in equal steps from 0 at the first decision to 1 at the
        last, as if each improvement retained the policy before, pi_{t+1} ~ pi_t exp(alpha Q_t / (T - 1)).
    prior, prior_mean, prior_covariance
        Prior of rho_env, as in `b_irl`.

    Returns
    -------
    pm.Model

    Raises
    ------
    InputError
        If the reading is neither of the two, or the prior is not valid (see `b_irl`).

    Warns
    -----
    InputWarning
        If the posterior is not proper under the flat prior, or the decisions have sessions, whose boundaries are not
        used.

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> model = icb_pymc.models.irl.i_spi(decisions)
    >>> model.free_RVs, model["sharpness"].get_value()
    ([weights], array([0., 1.]))
    """
    if reading not in READINGS:
        raise InputError(f"reading={reading!r}: it must be {' or '.join(repr(word) for word in READINGS)}.")
    warn_of_unused_sessions(decisions, "i_spi", "rho_env never changes")
    steps = decisions.sizes["time"]
    fold = one_fold(steps)
    improvements = np.arange(steps)
    with decisions_model(decisions) as model:
        alpha = hyperparameter("alpha", alpha)
        sharpness = np.minimum(improvements, 1.0) if reading == "improvement" else improvements / max(steps - 1, 1)
        sharpness = pm.Data("sharpness", sharpness, dims="time")
        fold_of_decision = declare_folds(fold)
        weights = fold_weights(decisions, alpha, prior, prior_mean, prior_covariance)
        pm.Deterministic("rho_env", weights[0], dims="feature")
        rho = constant_within(weights, fold_of_decision)
        choose(linear_utility(rho, model["context"] * sharpness[:, None, None], alpha))
    if prior == "flat":
        warn_of_improper_folds(decisions, fold, first=1)
    return model


def paper(decisions: xr.Dataset) -> Preset:
    """The published experiments: alpha = 2 and proposals of 0.05, under a flat prior: B-IRL at ten times the scale."""
    return Preset({"alpha": 2.0, "prior": "flat"}, RANDOM_WALK)


specify(i_spi, paper=paper)
