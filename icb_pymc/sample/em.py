"""Algorithm 1 line by line: EM for rho_env and the strength of the first belief."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from rich.progress import track

from icb_pymc.catalogue.lookup import name_of
from icb_pymc.data.decisions import validate
from icb_pymc.declare.spec import Declare, spec_of
from icb_pymc.errors import InputError
from icb_pymc.kernels.alternation import alternate
from icb_pymc.kernels.gradient_ascent import RMSprop
from icb_pymc.kernels.metropolis import choice_contrasts
from icb_pymc.kernels.reward_given_rho import covariance_path, reward_gains
from icb_pymc.sample.outcome import Outcome

# Sweeps of an expectation step that are not kept.
EM_TUNE = 1000
# The published code learns log s = 20 theta, so that a step of RMSprop moves it twenty times as far.
LOG_STRENGTH_SCALE = 20.0
# Features may be this many times the roots of m_i: an observed reward then takes twice as many digits off a variance.
LARGEST_FEATURE = 1e6
# The published alpha: steps of rho_env are as large in log-odds for any other.
PUBLISHED_ALPHA = 20.0


class EMResult(NamedTuple):
    """Estimates of every iteration, and the beliefs that the last expectation step sampled.

    Attributes
    ----------
    rho_env : (iteration, feature)
    strength : (iteration,)
    accepted : (iteration,)
        Acceptance rate of the expectation step's first proposals.
    belief : (draw, time, feature)
    """

    rho_env: np.ndarray
    strength: np.ndarray
    accepted: np.ndarray
    belief: np.ndarray


def fit_by_em(
    declare: Declare,
    decisions: xr.Dataset,
    given: dict[str, Any],
    sampling: dict[str, Any],
    seed: int | None,
    progressbar: bool,
) -> Outcome:
    """The estimates of EM's last iteration, the beliefs that it sampled, and the path of the estimates."""
    sampling = {"tune": EM_TUNE} | sampling
    em_settings = spec_of(declare).em
    if em_settings is None:
        raise InputError(f"'{name_of(declare)}' cannot be fitted by EM; use method 'mcmc'.")
    result = expectation_maximisation(
        decisions,
        **em_settings(decisions, given, as_published=sampling["kernel"] == "paper"),
        iterations=sampling["iterations"],
        draws=sampling["draws"],
        tune=sampling["tune"],
        seed=seed,
        progressbar=progressbar,
    )
    coords = {"chain": [0], "draw": np.arange(sampling["draws"])}
    coords |= {dim: decisions[dim].values for dim in ("time", "feature")}
    estimates = {
        "rho_env": (("chain", "draw", "feature"), np.tile(result.rho_env[-1], (1, sampling["draws"], 1))),
        "strength": (("chain", "draw"), np.full((1, sampling["draws"]), result.strength[-1])),
        "belief": (("chain", "draw", "time", "feature"), result.belief[None]),
    }
    path = {
        "rho_env": (("iteration", "feature"), result.rho_env),
        "strength": ("iteration", result.strength),
        "rho_accept": ("iteration", result.accepted),
    }
    path_coords = {"iteration": np.arange(1, sampling["iterations"] + 1), "feature": coords["feature"]}
    groups = {"posterior": xr.Dataset(estimates, coords), "em_path": xr.Dataset(path, path_coords)}
    words = f"EM, {sampling['iterations']} iterations of {sampling['tune']} + {sampling['draws']} sweeps"
    kernel = "paper" if sampling["kernel"] == "paper" else "gibbs"
    return Outcome(groups, f"{words} (kernel {kernel}); rho_env and strength are point estimates", kernel)


def expectation_maximisation(
    decisions: xr.Dataset,
    *,
    sigma: float,
    alpha: float,
    start_mean: float | np.ndarray,
    rho_env_mean: float | np.ndarray = 0.0,
    rho_env_sd: float | np.ndarray = np.inf,
    strength_scale: float = np.inf,
    information: float | np.ndarray = 1.0,
    least_squares: bool = False,
    as_printed: bool = False,
    iterations: int = 100,
    draws: int = 1000,
    tune: int = 1000,
    learning_rate: float = 0.001,
    discount: float = 0.9,
    seed: int | None = None,
    progressbar: bool = True,
) -> EMResult:
    """Alternate sampling of rewards and rho with gradient steps on rho_env and s; Sigma_1 = sigma^2 / s diag(1 / m_i).

    Parameters
    ----------
    decisions : Dataset
    sigma, alpha : float
        Standard deviation of rewards, and inverse temperature of the softmax.
    start_mean : float or vector
        mu_1, where rho_env starts too.
    rho_env_mean, rho_env_sd : float or vector
        Mean and standard deviations of a Gaussian prior, whose gradient is added; flat by default.
    strength_scale : float
        Scale of a half-normal prior of s; flat by default.
    information : float or vector
        m_i.
    least_squares : bool
        Set rho_env to the least-squares fit of the sampled rewards instead of a gradient step, as in the published
        experiments.
    as_printed : bool
        The Metropolis step as printed, instead of the exact one.
    iterations, draws, tune : int
        Iterations of EM; draws of each expectation step, and sweeps before them.
    learning_rate, discount : float
        Settings of RMSprop.
    """
    validate(decisions)
    # Features are scaled by the roots of m_i and weights by their inverse, so that Sigma_1 is a multiple of I.
    root = np.sqrt(information * np.ones(decisions.sizes["feature"]))
    _check_scales(decisions, root)
    context = np.ascontiguousarray(decisions["context"].values / root)
    chosen = decisions["chosen"].values
    taken = np.ascontiguousarray(context[np.arange(len(chosen)), chosen])
    contrasts = choice_contrasts(context, decisions["available"].values, chosen, alpha)
    features = taken.shape[1]
    first_mean, prior_mean, prior_sd = start_mean * root, rho_env_mean * root, rho_env_sd * root
    rng = np.random.Generator(np.random.SFC64(seed))
    rho_env, theta = first_mean.copy(), 0.0
    ascent_of_rho_env = RMSprop(learning_rate * PUBLISHED_ALPHA / alpha, discount)
    ascent_of_theta = RMSprop(learning_rate, discount)
    path = EMResult(np.empty((iterations, features)), np.empty(iterations), np.empty(iterations), np.empty(0))
    kept = np.empty((draws, *taken.shape))
    nothing = np.empty((0, *taken.shape))
    for i in track(range(iterations), "EM", disable=not progressbar, transient=True):
        strength = np.exp(LOG_STRENGTH_SCALE * theta)
        if not (np.isfinite(rho_env).all() and 0 < strength < np.inf):
            raise InputError(
                f"EM diverged in iteration {i}: standardise the features, give another alpha or sigma, or use method "
                "'mcmc'."
            )
        beliefs = covariance_path(sigma**2 / strength * np.eye(features), taken, sigma)
        gains = reward_gains(beliefs.covariance, taken, sigma)
        rho = np.tile(first_mean, (len(taken), 1))
        sampler = (gains, beliefs, contrasts, first_mean, rho_env, sigma, as_printed)
        if tune:
            alternate(*sampler, tune, rng, rho, nothing)
        expected = alternate(*sampler, draws, rng, rho, kept if i == iterations - 1 else nothing)
        path.rho_env[i], path.strength[i], path.accepted[i] = rho_env / root, strength, expected.acceptance_rate
        if least_squares:
            rho_env = np.linalg.lstsq(taken, expected.reward, rcond=None)[0]
        else:
            gradient = taken.T @ (expected.reward - taken @ rho_env) / sigma**2
            gradient -= (rho_env - prior_mean) / prior_sd**2
            rho_env = rho_env + ascent_of_rho_env.step(gradient)
        log_slope = strength * expected.strength_slope
        log_slope -= (strength / strength_scale) ** 2
        theta += float(ascent_of_theta.step(LOG_STRENGTH_SCALE * log_slope))
    return path._replace(belief=kept / root)


def _check_scales(decisions: xr.Dataset, root: np.ndarray) -> None:
    """Raise InputError where Sigma_1 = sigma^2 / s diag(1 / m_i) is so wide for a feature that rounding decides."""
    size = np.abs(decisions["context"].values).max(axis=(0, 1))
    too_large = size > LARGEST_FEATURE * root
    if too_large.any():
        feature = int(np.argmax(too_large))
        raise InputError(
            f"feature '{decisions['feature'].values[feature]}' is as large as {size[feature]:.3g}, too large for EM "
            f"with information={root[feature] ** 2:g}: standardise the features, or set information to their mean "
            "squares."
        )
