"""NB-ICB with shrinkage on innovations: beliefs mostly stand still and sometimes jump."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from icb_pymc.data.clocks import shares_of_time
from icb_pymc.declare import (
    BeliefSample,
    WienerProcess,
    as_covariance,
    choose,
    decisions_model,
    first_covariance,
    hyperparameter,
    linear_utility,
    log_odds_unit,
    warn_of_unused_sessions,
)
from icb_pymc.declare.priors import is_zero


def shrinkage_nb_icb(
    decisions: xr.Dataset,
    *,
    total_movement: float = 1.0,
    global_scale: Any = None,
    start_scale: Any = None,
    innovation_covariance: Any = None,
    sampling_covariance: Any = 0.0,
    alpha: Any = 1.0,
    start_mean: Any = 0.0,
    start_covariance: Any = None,
    unit_of_time: str | None = None,
) -> pm.Model:
    r"""beta_t = beta_{t-1} + tau lambda_t e_t, e_t ~ N(0, Sigma), lambda_t ~ C+(1), a_t ~ softmax(alpha <beta_t, x_t>).

    The horseshoe prior on innovations: one local scale lambda_t per decision (``local_scale``), shared by the features,
    times a global one, tau (``global_scale``), with half-Cauchy priors C+ on both. Given the scales beliefs are linear
    and Gaussian. Boundaries between sessions are decisions like any other: beliefs may jump at all of them.

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals to simulate.
    total_movement : number
        s, how far a weight typically moves over the whole log, in log-odds per typical difference between two
        candidates: tau ~ C+(s / T). See Notes.
    global_scale : number or distribution, optional
        tau, or a prior for it in place of C+(s / T), such as ``pm.HalfNormal.dist(0.01)``.
    start_scale : number or distribution, optional
        s_0, the scale of the first weights in log-odds per typical difference: beta_1(i) ~ N(0, (s_0 / (alpha d_i))^2).
        Log-normal by default, with median 1.5.
    innovation_covariance : number, vector or matrix, optional
        Sigma. By default diagonal, with the standard deviation 1 / (alpha d_i) for feature i, where d_i is the typical
        difference between two candidates of the same decision: a unit of every weight then changes log-odds equally.
    sampling_covariance : number, vector or matrix
        Sigma_P: how far rho_t deviates from the belief. Zero: rho_t is the belief itself.
    alpha : number
        Inverse temperature of the softmax; with alpha = 1 weights are log-odds per unit of the feature.
    start_mean : number or vector
        Mean of the first belief.
    start_covariance : number, vector or matrix, optional
        Covariance of the first belief, instead of a scale.
    unit_of_time : str, optional
        The variance of an innovation is multiplied by the time since the last decision, relative to its mean: real
        time where decisions have dates, one each where not. ``"decision"`` counts decisions in any case, ``"1"``
        measures the time of numbered ones.

    Returns
    -------
    pm.Model

    Raises
    ------
    InputError
        If the decisions are not valid, or the unit of time does not fit their times.

    Warns
    -----
    InputWarning
        If the decisions have sessions, whose boundaries are not used.

    Notes
    -----
    Why s / T and not s / sqrt(T): the tail of lambda e is that of a Cauchy distribution, P(\|lambda e\| > x) ~
    (2/pi)^{3/2} / x. A sum of T such innovations is dominated by its largest and grows like T, not like its root: it is
    close to a Cauchy distribution with scale sqrt(2/pi) tau T. With tau = s / T the median of the total movement is
    0.8 s for every length of the log. With a unit of time, T is the sum of the roots of the gaps.

    Mean belief error (Tables 2 and 6 of the paper) on simulated logs with seeds 100 to 102, by default and with alpha
    and the centre of the first weights known (``examples/shrinkage.py`` measures it on other logs):

    ============== ============== ============== ============= ============= =============
    agent          nb_icb default this, default  nb_icb known  this, known   `changes`
    ============== ============== ============== ============= ============= =============
    Stepping       .162           .140           .136          .088          .122
    Stationary     .078           .073           .061          .061          .064
    Sampling       .130           .141           .125          .132          .140
    Linear         .118           .120           .099          .104          .143
    Regressing     .173           .182           .135          .140          .180
    sudden changes .121           .040           .121          .040          .037
    ============== ============== ============== ============= ============= =============

    (Sudden changes: one log, whose centre is zero; `changes` with its defaults.) So this model is for preferences that
    jump; where they drift, or never change, `nb_icb` is as good or better. Half of the gain is due to the learnt scale
    of the first weights: with one of 2.5 log-odds the errors on the first two logs of Stepping are .091 on average
    instead of .055 (known).

    How well the date of a jump is known limits how well its size around that date is: with steps of 1 log-odds in
    1,000 decisions the date is uncertain by some 80 decisions, and a window of 50 holds only a part of the step: 95%
    intervals of the change from 50 decisions before to 50 after cover in 11 of 20 logs, of 500 in 14 (seeds 0 to 19).

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> model = icb_pymc.models.shrinkage_nb_icb(decisions)
    >>> model.free_RVs
    [global_scale, local_scale, start_scale, belief]
    >>> model["local_scale"].eval().shape
    (1,)
    """
    warn_of_unused_sessions(decisions, "shrinkage_nb_icb", "weights may jump at any decision, with the same prior")
    with decisions_model(decisions) as model:
        features = decisions.sizes["feature"]
        # Time in units of the mean time between decisions.
        gaps = shares_of_time(decisions, unit_of_time) * (decisions.sizes["time"] - 1)
        alpha = hyperparameter("alpha", alpha)
        unit = log_odds_unit(decisions, alpha)
        innovation = unit**2 if innovation_covariance is None else innovation_covariance
        if global_scale is None:
            global_scale = pm.HalfCauchy.dist(total_movement / max(np.sqrt(gaps).sum(), 1.0))
        global_scale = hyperparameter("global_scale", global_scale)
        model.add_coords({"innovation": decisions["time"].values[1:]})
        local_scale = pm.HalfCauchy("local_scale", 1.0, dims="innovation")
        belief = WienerProcess(
            "belief",
            start_mean=pt.as_tensor(start_mean, dtype="float64") * np.ones(features),
            start_covariance=first_covariance(unit, start_scale, start_covariance),
            innovation_covariance=as_covariance(hyperparameter("innovation_covariance", innovation), features),
            elapsed=(global_scale * local_scale) ** 2 * gaps,
            dims=("time", "feature"),
        )
        if is_zero(sampling_covariance):
            rho = pm.Deterministic("rho", belief, dims=("time", "feature"))
        else:
            sampling = as_covariance(hyperparameter("sampling_covariance", sampling_covariance), features)
            rho = BeliefSample("rho", belief, pt.linalg.cholesky(sampling), dims=("time", "feature"))
        choose(linear_utility(rho, model["context"], alpha))
    return model
