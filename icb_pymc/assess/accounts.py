"""A step, drift, or no change? Three accounts of the weights around a dated event, compared by their evidence."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from rich.progress import track
from scipy.special import logsumexp

from icb_pymc.assess.weights import feature_sd
from icb_pymc.assess.wording import capped_grade, grade_of, probability_of_direction
from icb_pymc.data.standardisation import contrast_spread
from icb_pymc.declare.log_odds import WEIGHT_SD
from icb_pymc.errors import InputError
from icb_pymc.kernels.hamiltonian import draw_centred_noise, fresh_noise, make_reference
from icb_pymc.kernels.metropolis import choice_contrasts
from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.state_space import StateSpace

ACCOUNTS = ("step", "drift", "no change")
# The scales of the step and of the drift over the whole window have half-normal priors, with standard deviation 1 by
# default, in the same unit; they are averaged over these values, the smallest of which no log can tell from zero.
SCALES = np.geomspace(0.05, 3.0, 7)
# Decisions that each side of a step, real or placebo, must have.
LEAST_DECISIONS = 10


@dataclass(frozen=True)
class Accounts:
    """Three accounts of what happened to the weights around one event.

    Attributes
    ----------
    log_evidence : dict
        log p(choices | account) of "step", "drift" and "no change".
    probability : dict
        Their posterior probabilities, equal a priori.
    steps : DataFrame
        The size of the step of each feature's weight if there was one, in log-odds per standard deviation: `step`, its
        central credible interval `step_lower` to `step_upper`, and `step_probability` of its direction; the weight just
        before it, `step_from`, and just after it, `step_to`.
    draws : dict
        Draws (draw, feature) of all weights under the account of a step, per standard deviation: means `before` and
        `after` the event, and just before and after it, `step_from` and `step_to`.
    placebo : array
        The log Bayes factor of a step at each placebo date.
    at_event : float
        The log Bayes factor of a step at the event, computed in the same way.
    """

    log_evidence: dict[str, float]
    probability: dict[str, float]
    steps: pd.DataFrame
    draws: dict[str, np.ndarray]
    placebo: np.ndarray
    at_event: float

    @property
    def best(self) -> str:
        """The account that is best supported."""
        return max(self.probability, key=lambda name: self.probability[name])

    @property
    def placebo_share(self) -> float:
        """Share of the dates, the event included, at which a step is at least as well supported as at the event."""
        return float((1 + np.sum(self.placebo >= self.at_event)) / (1 + len(self.placebo)))


def compare_accounts(
    decisions: xr.Dataset,
    position: int,
    *,
    window: slice = slice(None),
    features: Sequence[str] | None = None,
    ci_prob: float = 0.94,
    placebos: int = 0,
    prior_scale: float = 1.0,
    draws: int = 1000,
    random_seed: int = 0,
    progressbar: bool = False,
) -> Accounts:
    r"""Compare a step at an event, drift without a step, and no change, by the evidence of the choices.

    .. math:: \beta_t = \beta_{t-1} + g_t e_t, \quad g_t^2 = w^2 / (T - 1) + s^2 [t = D], \quad e_t \sim N(0, D^{-2})

    Weights are in log-odds per typical difference between two candidates (`contrast_spread`), so that the priors fit
    features of any scale. No change: w = s = 0. Drift: s = 0 and w, the scale of the movement over the whole window, is
    half-normal. Step: s is half-normal too, and w is zero or half-normal with equal probability. Evidence is
    computed by Laplace's method and averaged over a grid of w and s. Decisions of several agents are taken as one log.

    Parameters
    ----------
    decisions : Dataset
    position : int
        Position of the first decision after the event.
    window : slice
        Positions of the decisions to judge by; all by default.
    features : sequence of str, optional
        Those whose steps to report; all by default.
    ci_prob : float
        Probability of the credible intervals.
    placebos : int
        At how many dates where nothing happened to ask the same question. They are evenly spaced, and each is judged
        only by decisions on its own side of the event.
    prior_scale : float
        Standard deviation of the half-normal priors of the scales of the step and of the drift.
    draws : int
        Draws of the step.
    random_seed : int
        Seed of these draws.
    progressbar : bool
        Show one.

    Returns
    -------
    Accounts

    Raises
    ------
    InputError
        If one side of the event has fewer than ten decisions.

    Examples
    --------
    >>> import icb_pymc, numpy as np
    >>> from icb_pymc.assess.accounts import compare_accounts
    >>> rng = np.random.default_rng(0)
    >>> context = rng.normal(size=(400, 2, 2))
    >>> weight = np.repeat([[1.0, 0.0], [-1.0, 0.0]], 200, axis=0)[:, None]
    >>> chosen = ((context * weight).sum(-1) + rng.gumbel(size=(400, 2))).argmax(axis=1)
    >>> result = compare_accounts(icb_pymc.from_arrays(context, chosen), 200)
    >>> result.best, (result.steps["step_upper"] < 0).tolist()
    ('step', [True, False])
    """
    inside = decisions.isel(time=window)
    at, steps = position - (window.start or 0), inside.sizes["time"]
    if min(at, steps - at) < LEAST_DECISIONS:
        raise InputError(
            f"there are {at} decisions before the event and {steps - at} after it; a step needs {LEAST_DECISIONS} on "
            "each side: make the windows longer."
        )
    space = _unchanging(inside)
    weight = _log_weights(prior_scale)
    none = _log_evidence(space, 0.0, 0.0, at)
    drift = np.array([_log_evidence(space, w, 0.0, at) for w in SCALES])
    # Rows: no drift, then drift of each scale; columns: scales of the step.
    drift_weight = np.concatenate([[0.0], weight]) + np.log(0.5)
    movements = np.concatenate([[0.0], SCALES])
    rows = track(movements, "accounts", disable=not progressbar, transient=True)
    step = np.array([[_log_evidence(space, w, s, at) for s in SCALES] for w in rows])
    evidence = {
        "step": float(logsumexp(step + drift_weight[:, None] + weight)),
        "drift": float(logsumexp(drift + weight)),
        "no change": none,
    }
    total = logsumexp(list(evidence.values()))
    log_posterior = step + drift_weight[:, None] + weight
    to_sd = feature_sd(decisions).values / contrast_spread(inside)
    per_contrast = _draw_step_account(space, movements, log_posterior, at, draws, random_seed)
    drawn = {name: values * to_sd for name, values in per_contrast.items()}
    names = [str(name) for name in decisions["feature"].values]
    table = _describe_steps(drawn, names, features or names, ci_prob)
    best_drift = float(movements[int(np.argmax(np.concatenate([[none], drift + weight])))])
    at_event, others = _placebo_factors(inside, at, best_drift, placebos, progressbar)
    probability = {name: float(np.exp(value - total)) for name, value in evidence.items()}
    return Accounts(evidence, probability, table, drawn, others, at_event)


def verdict_on(
    change: np.ndarray, account: Accounts, questions: int = 1, matters: float | None = None, events: int = 1
) -> str:
    """The verdict on draws of one feature's change, which is never surer than that anything changed.

    Parameters
    ----------
    change : array (draw,)
    account : Accounts
    questions : int
        How many changes were asked about in all.
    matters : float, optional
        Changes of less than this are not relevant.
    events : int
        How many events were asked about.
    """
    return capped_grade(grade_of(change, questions, matters), account.probability["no change"], events)


def unchanging_weights(decisions: xr.Dataset) -> np.ndarray:
    """The most probable weights (feature,) of an agent that never changes, in log-odds per unit of the features."""
    space = _unchanging(decisions)
    start = make_reference(space, find_mode(space).data).noise.start
    return WEIGHT_SD * start / contrast_spread(decisions)


def draw_unchanging_weights(decisions: xr.Dataset, draws: int, seed: int) -> np.ndarray:
    """Draws (draw, feature) of the weights of an agent that never changes, in log-odds per unit of the features."""
    space, rng = _unchanging(decisions), np.random.Generator(np.random.SFC64(seed))
    reference = make_reference(space, find_mode(space).data)
    starts = [
        draw_centred_noise(reference, fresh_noise(reference, rng)).start + reference.noise.start for _ in range(draws)
    ]
    return WEIGHT_SD * np.array(starts) / contrast_spread(decisions)


def _log_weights(prior_scale: float = 1.0) -> np.ndarray:
    """Logarithms of the prior probabilities of `SCALES`: half-normal, times their spacing on the log scale."""
    density = -0.5 * (SCALES / prior_scale) ** 2 + np.log(SCALES)
    return density - logsumexp(density)


def _unchanging(decisions: xr.Dataset) -> StateSpace:
    """The state space of weights that stand still, in log-odds per typical difference between two candidates."""
    available, chosen = decisions["available"].values.astype(bool), decisions["chosen"].values
    contrasts = choice_contrasts(decisions["context"].values / contrast_spread(decisions), available, chosen, 1.0)
    k = decisions.sizes["feature"]
    return StateSpace(
        start_mean=np.zeros(k),
        start_root=WEIGHT_SD * np.eye(k),
        decay=np.empty((0, k)),
        left=np.empty((1, 0, k)),
        right=np.empty((1, 0, k)),
        drift=np.zeros((1, k)),
        move_scale=np.zeros(max(len(chosen) - 1, 1)),
        move_root=np.eye(k)[None],
        first=contrasts.first,
        offset=np.zeros(len(contrasts.values)),
        state_loading=contrasts.values,
        sampling_loading=np.zeros((len(contrasts.values), 0)),
    )


def _moving(space: StateSpace, movement: float, step: float, at: int) -> StateSpace:
    """The state space with drift of this scale over the whole log, and a step of this scale before decision `at`."""
    square = np.full(len(space.move_scale), movement**2 / len(space.move_scale))
    square[at - 1] += step**2
    return space._replace(move_scale=np.sqrt(square))


def _log_evidence(space: StateSpace, movement: float, step: float, at: int) -> float:
    return find_mode(_moving(space, movement, step, at)).log_evidence


def _draw_step_account(
    space: StateSpace, movements: np.ndarray, log_posterior: np.ndarray, at: int, draws: int, seed: int
) -> dict[str, np.ndarray]:
    """Draws (draw, feature) of the weights under the account of a step, averaged over the scales."""
    rng = np.random.Generator(np.random.SFC64(seed))
    number = rng.multinomial(draws, np.exp(log_posterior - logsumexp(log_posterior)).ravel())
    drawn: dict[str, list[np.ndarray]] = {"step_from": [], "step_to": [], "before": [], "after": []}
    for cell in np.flatnonzero(number):
        row, column = np.unravel_index(cell, log_posterior.shape)
        moving = _moving(space, float(movements[row]), float(SCALES[column]), at)
        reference = make_reference(moving, find_mode(moving).data)
        for _ in range(number[cell]):
            around = draw_centred_noise(reference, fresh_noise(reference, rng))
            start = WEIGHT_SD * (around.start + reference.noise.start)
            moves = moving.move_scale[:, None] * (around.move + reference.noise.move)
            path = np.cumsum(np.vstack([start, moves]), axis=0)
            for name, value in zip(drawn, (path[at - 1], path[at], path[:at].mean(0), path[at:].mean(0)), strict=True):
                drawn[name].append(value)
    return {name: np.array(values) for name, values in drawn.items()}


def _describe_steps(
    drawn: dict[str, np.ndarray], names: Sequence[str], features: Sequence[str], ci_prob: float
) -> pd.DataFrame:
    tail = (1 - ci_prob) / 2
    rows: dict[str, dict[str, float]] = {}
    for name in features:
        old, new = (drawn[which][:, names.index(name)] for which in ("step_from", "step_to"))
        lower, upper = np.quantile(new - old, [tail, 1 - tail])
        rows[name] = {
            "step_from": float(old.mean()),
            "step_to": float(new.mean()),
            "step": float((new - old).mean()),
            "step_lower": float(lower),
            "step_upper": float(upper),
            "step_probability": probability_of_direction(new - old),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("feature")


def _placebo_factors(
    decisions: xr.Dataset, at: int, movement: float, placebos: int, progressbar: bool
) -> tuple[float, np.ndarray]:
    """Log Bayes factors of a step against none, given the drift: at the event, and at dates where nothing happened."""

    def factor(part: xr.Dataset, position: int) -> float:
        # Drift is per decision: a part of the log has a part of it.
        space, scale = _unchanging(part), movement * np.sqrt(part.sizes["time"] / decisions.sizes["time"])
        with_step = [_log_evidence(space, scale, s, position) for s in SCALES]
        return float(logsumexp(np.array(with_step) + _log_weights()) - _log_evidence(space, scale, 0.0, position))

    dates = list(_placebo_dates(decisions.sizes["time"], at, placebos))
    sides = {False: decisions.isel(time=slice(0, at)), True: decisions.isel(time=slice(at, None))}
    shown = track(dates, "placebo dates", disable=not progressbar, transient=True)
    others = [factor(sides[date > at], date - at if date > at else date) for date in shown]
    return factor(decisions, at), np.array(others)


def _placebo_dates(steps: int, at: int, number: int) -> Iterable[int]:
    """Evenly spaced positions that have enough decisions on both sides, without the event."""
    possible = [
        date for date in range(LEAST_DECISIONS, steps - LEAST_DECISIONS + 1) if abs(date - at) >= LEAST_DECISIONS
    ]
    if number and possible:
        yield from (possible[i] for i in np.unique(np.linspace(0, len(possible) - 1, number).round().astype(int)))
