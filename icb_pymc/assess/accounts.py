"""A step, drift, or no change? Three accounts of the weights around a dated event, compared by their evidence."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from rich.progress import track
from scipy.special import logsumexp

from icb_pymc.assess.account_models import (
    SCALES,
    STEP_SD,
    Evidence,
    draw_steps,
    log_scale_prior,
    unchanging_space,
)
from icb_pymc.assess.weights import feature_sd
from icb_pymc.assess.wording import (
    capped_grade,
    grade_of,
    probability_of_direction,
    probability_of_flip,
    supported_account,
)
from icb_pymc.data.standardisation import WEIGHT_SD, contrast_spread
from icb_pymc.errors import InputError
from icb_pymc.kernels.hamiltonian import draw_centred_noise, fresh_noise, make_reference
from icb_pymc.kernels.mode import find_mode

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
    one_factor : float
        Probability, if there was a step, that it multiplied all weights by one factor (all choices became sharper, or
        less sharp), and not each by its own.
    steps : DataFrame
        The size of the step of each feature's weight if there was one, in log-odds per standard deviation: `step`, its
        central credible interval `step_lower` to `step_upper`, and `step_probability` of its direction; the weight just
        before it, `step_from`, and just after it, `step_to`, and the probability that these differ in sign,
        `step_flipped`.
    draws : dict
        Draws (draw, feature) of all weights if each stepped by its own amount, per standard deviation: means `before`
        and `after` the event, and just before and after it, `step_from` and `step_to`.
    placebo : array
        The log Bayes factor of a step at each placebo date.
    at_event : float
        The log Bayes factor of a step at the event, computed in the same way.
    """

    log_evidence: dict[str, float]
    probability: dict[str, float]
    one_factor: float
    steps: pd.DataFrame
    draws: dict[str, np.ndarray]
    placebo: np.ndarray
    at_event: float

    @property
    def best(self) -> str:
        """The account that is best supported: "step", "drift", "no change", or "step or drift" if these are close."""
        return supported_account(self.probability)

    @property
    def best_probability(self) -> float:
        """The probability of the best supported account, or of step and drift together."""
        if self.best == "step or drift":
            return self.probability["step"] + self.probability["drift"]
        return self.probability[self.best]

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
    lapse: float = 0.0,
    draws: int = 1000,
    random_seed: int = 0,
    progressbar: bool = False,
) -> Accounts:
    r"""Compare a step at an event, drift without a step, and no change, by the evidence of the choices.

    .. math:: \beta_t = \beta_{t-1} + g_t e_t, \quad g_t^2 = w^2 / (T - 1) + s^2 [t = D], \quad e_t \sim N(0, D^{-2})

    Weights are in log-odds per typical difference between two candidates (`contrast_spread`), so that the priors fit
    features of any scale. No change: w = s = 0. Drift: s = 0 and w, the scale of the movement over the whole window, is
    half-normal. Step: w is zero or half-normal with equal probability, and with equal probability each weight steps by
    its own amount, with a half-normal s, or all weights are multiplied by one factor from D on, with a log-normal prior
    around one. Evidence is computed by Laplace's method and averaged over w, s and the factor. Decisions of several
    agents are taken as one log.

    How large a step was, if there was one, is another question: s is then as wide as the prior of the weights
    themselves (`STEP_SD`). A learnt scale that all features share would pull the step of a single one towards zero.

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
        Standard deviation of the half-normal priors of the scales of the step and of the drift; that of the logarithm
        of the factor, and that of the size of a step, are in proportion.
    lapse : float
        Probability that a choice is made at random, the same under all accounts.
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
    evidence_of, weight = Evidence(inside, at, prior_scale, lapse), log_scale_prior(prior_scale)
    none = evidence_of(0.0, 0.0)
    drift = np.array([evidence_of(w, 0.0) for w in SCALES]) + weight
    # No drift and drift have equal prior probabilities, and so have the two kinds of step.
    movements = dict(zip([0.0, *SCALES], [np.log(0.5), *(np.log(0.5) + weight)], strict=True))
    own, common, sized = [], [], {}
    for w in track(movements, "accounts", disable=not progressbar, transient=True):
        own.append(evidence_of.own_steps(w) + movements[w] + np.log(0.5))
        common.append(evidence_of.one_factor(w) + movements[w] + np.log(0.5))
        sized[w] = evidence_of(w, STEP_SD * prior_scale) + movements[w]
    evidence = {"step": float(logsumexp(own + common)), "drift": float(logsumexp(drift)), "no change": none}
    total = logsumexp(list(evidence.values()))
    one_factor = float(np.exp(logsumexp(common) - evidence["step"]))
    to_sd = feature_sd(decisions).values / contrast_spread(inside)
    per_contrast = draw_steps(evidence_of.space, sized, STEP_SD * prior_scale, at, draws, random_seed)
    drawn = {name: values * to_sd for name, values in per_contrast.items()}
    names = [str(name) for name in decisions["feature"].values]
    table = _describe_steps(drawn, names, features or names, ci_prob)
    best_drift = float([0.0, *SCALES][int(np.argmax([none, *drift]))])
    at_event, others = _placebo_factors(inside, at, best_drift, placebos, progressbar, lapse)
    probability = {name: float(np.exp(value - total)) for name, value in evidence.items()}
    return Accounts(evidence, probability, one_factor, table, drawn, others, at_event)


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


def unchanging_weights(decisions: xr.Dataset, lapse: float = 0.0) -> np.ndarray:
    """The most probable weights (feature,) of an agent that never changes, in log-odds per unit of the features."""
    space = unchanging_space(decisions, lapse)
    start = make_reference(space, find_mode(space).data).noise.start
    return WEIGHT_SD * start / contrast_spread(decisions)


def draw_unchanging_weights(decisions: xr.Dataset, draws: int, seed: int, lapse: float = 0.0) -> np.ndarray:
    """Draws (draw, feature) of the weights of an agent that never changes, in log-odds per unit of the features."""
    space, rng = unchanging_space(decisions, lapse), np.random.Generator(np.random.SFC64(seed))
    reference = make_reference(space, find_mode(space).data)
    starts = [
        draw_centred_noise(reference, fresh_noise(reference, rng)).start + reference.noise.start for _ in range(draws)
    ]
    return WEIGHT_SD * np.array(starts) / contrast_spread(decisions)


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
            "step_flipped": probability_of_flip(old, new),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("feature")


def _placebo_factors(
    decisions: xr.Dataset, at: int, movement: float, placebos: int, progressbar: bool, lapse: float
) -> tuple[float, np.ndarray]:
    """Log Bayes factors of a step against none, given the drift: at the event, and at dates where nothing happened."""

    def factor(part: xr.Dataset, position: int) -> float:
        # Drift is per decision: a part of the log has a part of it.
        evidence_of = Evidence(part, position, lapse=lapse)
        scale = movement * np.sqrt(part.sizes["time"] / decisions.sizes["time"])
        with_step = np.logaddexp(evidence_of.own_steps(scale), evidence_of.one_factor(scale))
        return float(with_step + np.log(0.5) - evidence_of(scale, 0.0))

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
