"""When did preferences change? The posterior of the number and the dates of changes."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from rich.progress import track

from icb_pymc.assess.divisions import Divisions, divide, draw_weights, even_grid
from icb_pymc.assess.wording import format_probability
from icb_pymc.data.decisions import validate
from icb_pymc.data.times import format_time
from icb_pymc.declare.folds import checked_count, contrasts_of
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.io.machine import check_memory
from icb_pymc.kernels.metropolis import Contrasts
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import checked_ci_prob, decisions_in

# Above the first probability of a change "probably" is dropped; below the second no change is needed.
CLEAR, NEGLIGIBLE = 0.95, 0.05
# The first grid of a log of up to 5,000 decisions has so many blocks; that of a longer one fewer, as its segments are
# longer. Refinement may go up to the last number of blocks.
BLOCKS, LEAST_BLOCKS, BLOCKS_UP_TO, MOST_BLOCKS = 120, 40, 5_000, 300
# Candidates for the scale of the prior, and the blocks of the grid on which they are compared.
SCALES, BLOCKS_TO_COMPARE = 2.5 * 2.0 ** np.arange(-3, 5), 16
# True preferences that change more often than this are drifting, and have no dates.
MOST_TRUE_DATES = 20


@dataclass(frozen=True)
class DateOfChange:
    """One change of preference.

    Attributes
    ----------
    date : datetime64 or int
        Time of the most probable first decision under the new preference.
    interval : tuple
        First and last time of the shortest window that holds this change with probability `ci_prob`, given the number
        of changes.
    probability : float
        That there is at least one change in this window, over all divisions.
    before, after : DataArray (feature)
        Posterior means of the weights at the last decision before the window and at the last one in it; in log-odds per
        unit of a feature if alpha is 1.
    """

    date: Any
    interval: tuple[Any, Any]
    probability: float
    before: xr.DataArray
    after: xr.DataArray


@dataclass(frozen=True, eq=False)
class Changes:
    """Posterior of when preferences changed.

    Attributes
    ----------
    probability : DataArray (time)
        P(the preference changes just before this decision). Its sum is the expected number of changes.
    number : DataArray (changes)
        P(number of changes).
    dates : tuple of DateOfChange
        As many as are most probable, given that there are any; none if a change is less probable than none.
    log_bayes_factor : float
        Log evidence of one or more changes against none.
    log_evidence : float
        log p(choices), summed over all divisions.
    boundaries : array (block+1,)
        Of the blocks of the last grid, in decisions.
    weights : DataArray (draw, block, feature)
        Draws of the preference in each block; from one draw to the next the division differs too.
    ci_prob : float
    prior_scale : float
        Prior standard deviation of log-odds per spread of a feature.
    expected_changes : float
        Of the prior.
    true_dates : array, optional
        Of simulated decisions with preferences that change now and then.
    """

    probability: xr.DataArray
    number: xr.DataArray
    dates: tuple[DateOfChange, ...]
    log_bayes_factor: float
    log_evidence: float
    boundaries: np.ndarray
    weights: xr.DataArray
    ci_prob: float
    prior_scale: float
    expected_changes: float
    true_dates: np.ndarray | None = None

    @property
    def any_change(self) -> float:
        """P(at least one change)."""
        odds = self.log_bayes_factor + np.log(self.expected_changes)
        return float(1 / (1 + np.exp(-odds)))

    @property
    def mean_belief(self) -> xr.DataArray:
        """Posterior mean of the weights (time, feature), averaged over divisions."""
        return self._over_time(self.weights.mean("draw"), 1)

    def beliefs(self, every: int = 1) -> xr.DataArray:
        """Draws of the weights (chain, draw, time, feature) at every n-th decision, as in the posterior of a trace."""
        every = checked_count("every", every, int(self.boundaries[-1]), "decisions")
        times = -(-int(self.boundaries[-1]) // every)
        check_memory(8 * times * self.weights.sizes["feature"], self.weights.sizes["draw"], 1)
        draws = self._over_time(self.weights, every)
        return draws.expand_dims("chain").transpose("chain", "draw", "time", "feature").rename("belief")

    def as_dict(self) -> dict[str, Any]:
        """What the sentences say, as plain numbers and text for JSON."""
        return {
            "decisions": self.probability.sizes["time"],
            "any_change": self.any_change,
            "prior_any_change": self.expected_changes / (1 + self.expected_changes),
            "log_bayes_factor": self.log_bayes_factor,
            "number_of_changes": {
                str(m): float(p) for m, p in enumerate(self.number.values) if p >= 0.0005 or m <= len(self.dates)
            },
            "ci_prob": self.ci_prob,
            "prior_scale": self.prior_scale,
            "dates": [
                {
                    "date": _plain_time(date.date),
                    "interval": [_plain_time(end) for end in date.interval],
                    "probability": date.probability,
                    "before": _plain_weights(date.before),
                    "after": _plain_weights(date.after),
                }
                for date in self.dates
            ],
        }

    def __str__(self) -> str:
        prior = self.expected_changes / (1 + self.expected_changes)
        chance = (
            f"probability of at least one {format_probability(self.any_change)}, a priori {format_probability(prior)}"
        )
        if not self.dates:
            return "\n".join([self._without_dates(chance), self._caution()])
        clear = "" if self.any_change >= CLEAR else "probably "
        times = "once" if len(self.dates) == 1 else f"{len(self.dates)} times"
        most_probable = f"most probably {times} ({format_probability(float(self.number[len(self.dates)]))})"
        lines = [f"Preferences {clear}changed: {chance}, {most_probable}."]
        lines += [f"{i}. {self._describe(date)}" for i, date in enumerate(self.dates, 1)]
        return "\n".join(lines)

    def _without_dates(self, chance: str) -> str:
        if self.any_change < NEGLIGIBLE:
            return f"No change of preferences is needed to explain these choices: {chance}."
        return f"It is not clear whether preferences changed: {chance}."

    def _caution(self) -> str:
        steps = self.probability.sizes["time"]
        return (
            f"That is no proof that nothing changed: a small change, one that lasted only a few of these {steps} "
            "decisions, or a slow drift may remain unseen."
        )

    def _describe(self, date: DateOfChange) -> str:
        low, high = date.interval
        shift = abs(date.after - date.before) * self.weights["spread"]
        name = str(shift["feature"].values[int(np.argmax(shift.values))])
        old, new = (float(weights.sel(feature=name)) for weights in (date.before, date.after))
        window = f"{format_time(low)} to {format_time(high)}" if low != high else f"{format_time(low)} alone"
        return (
            f"At {format_time(date.date)} ({self.ci_prob:.0%} credible interval {window}; probability of a change "
            f"there {format_probability(date.probability)}). What changed most: {name}, weight {old:+.3g} before and "
            f"{new:+.3g} after."
        )

    def _over_time(self, by_block: xr.DataArray, every: int) -> xr.DataArray:
        kept = np.arange(0, int(self.boundaries[-1]), every)
        block = np.searchsorted(self.boundaries, kept, side="right") - 1
        expanded = by_block.drop_vars("spread").isel(block=xr.DataArray(block, dims="time"))
        return expanded.assign_coords(time=self.probability["time"].values[kept])


def changes(
    decisions: xr.Dataset | InferenceData,
    *,
    alpha: float = 1.0,
    expected_changes: float = 1.0,
    prior_mean: float = 0.0,
    prior_scale: float | None = None,
    length: int | None = None,
    draws: int = 500,
    ci_prob: float | None = None,
    random_seed: int | None = None,
    progressbar: bool = False,
) -> Changes:
    """Posterior of the number and the dates of changes of preference.

    Between changes the preference is constant, and each segment has its own: weight i ~ N(prior_mean,
    (prior_scale / (alpha spread_i))^2), a_t ~ softmax(alpha <w, x_t[a]>). Each decision but the first is the first
    under a new preference with probability p, and p ~ Beta(1, (T - 1) / expected_changes) is integrated out. Whatever
    the length of the log, "no change" then has prior probability 1 / (1 + expected_changes). The posterior is summed
    exactly over all divisions of a grid (Fearnhead, 2006), with segments scored by Laplace's method; the grid is
    refined to single decisions where changes are probable. Draws of weights are corrected for Laplace's method by
    Metropolis steps.

    Parameters
    ----------
    decisions : Dataset or InferenceData
        Decisions with `chosen`, or a trace, whose decisions are used and whose draws are not.
    alpha : float
        Inverse temperature; at 1 weights are log-odds per unit of a feature. It changes only their unit.
    expected_changes : float
        Expected number of changes a priori. At 1 a change is as probable as none.
    prior_mean : float
        Prior mean of every weight, where that is known beforehand. It has the unit of the weights, which `alpha` sets.
    prior_scale : float, optional
        Prior standard deviation of the log-odds that a feature contributes if two candidates differ in it by its
        *spread*, the root mean square difference between candidates of one decision. By default the one of 0.3, 0.6,
        ..., 40 under which the choices are most probable.
    length : int, optional
        Decisions per block of the first grid; by default such that there are at most 120 blocks. Segments shorter than
        a block are seen only close to other changes. With 1 the grid is exact from the start.
    draws : int
        Draws of divisions and of preferences, for `weights` and `beliefs`.
    ci_prob : float, optional
        Probability of the credible interval of each date; by default that of ArviZ's ``rcParams["stats.ci_prob"]``.
    random_seed : int, optional
        Seed of the draws. Probabilities and dates do not depend on it.
    progressbar : bool
        Show progress.

    Returns
    -------
    Changes
        Prints as sentences.

    Raises
    ------
    InputError
        If the decisions or an option are not valid, or the trace does not hold its decisions.

    Warns
    -----
    InputWarning
        If the decisions are those of several agents, who are taken to change together.

    Examples
    --------
    >>> import numpy as np
    >>> import icb_pymc
    >>> rng = np.random.default_rng(0)
    >>> context = rng.normal(size=(200, 2, 1))
    >>> log_odds = np.where(np.arange(200) < 120, 2.0, -2.0) * (context[:, 1, 0] - context[:, 0, 0])
    >>> chosen = (rng.random(200) < 1 / (1 + np.exp(-log_odds))).astype(int)
    >>> result = icb_pymc.changes(icb_pymc.from_arrays(context, chosen, features=["age"]), random_seed=0)
    >>> print(result)
    Preferences changed: ...
    >>> [int(date.date) for date in result.dates]
    [121]
    """
    log = validate(decisions) if isinstance(decisions, xr.Dataset) else decisions_in(decisions)
    ci_prob = checked_ci_prob(ci_prob)
    _check_options(alpha, expected_changes, prior_mean, prior_scale)
    draws = checked_count("draws", draws, 1_000_000, "draws allowed")
    steps = log.sizes["time"]
    if steps < 2:
        raise InputError("one decision cannot show a change: give a log of at least two.")
    if "decider" in log and log.sizes["agent"] > 1:
        warnings.warn(
            f"these are decisions of {log.sizes['agent']} agents; dates are those at which they all change together. "
            "For each of them, select the agent's decisions first.",
            InputWarning,
            stacklevel=2,
        )
    first_length = _default_length(steps) if length is None else checked_count("length", length, steps, "decisions")
    contrasts, spread = contrasts_of(log, alpha), alpha * spread_of_candidates(log)
    mean = np.full(len(spread), float(prior_mean))
    scale = prior_scale or _most_probable_scale(contrasts, spread, mean, steps, expected_changes)
    precision = np.diag((spread / scale) ** 2)

    def show(rows: Iterable[int], name: str) -> Iterable[int]:
        return track(rows, name, disable=not progressbar, transient=True)

    grid = even_grid(steps, first_length)
    divisions = divide(contrasts, grid, mean, precision, expected_changes, most_blocks=MOST_BLOCKS, track=show)
    rng = np.random.default_rng(random_seed)
    weights = xr.DataArray(
        draw_weights(divisions, divisions.draw(draws, rng), contrasts, mean, precision, rng),
        {"feature": log["feature"].values, "spread": ("feature", spread)},
        ("draw", "block", "feature"),
        "weights",
    )
    log_no_change = divisions.log_no_change
    log_odds = float(np.log(-np.expm1(log_no_change)) - log_no_change) if log_no_change < 0 else -np.inf
    return Changes(
        xr.DataArray(_by_decision(divisions), {"time": log["time"].values}, ("time",), "probability"),
        xr.DataArray(divisions.of_number(), {"changes": np.arange(divisions.blocks)}, ("changes",), "number"),
        _dates(divisions, log["time"].values, weights, ci_prob) if log_odds > 0 else (),
        log_odds - float(np.log(expected_changes)),
        divisions.log_evidence,
        divisions.boundaries,
        weights,
        ci_prob,
        float(scale),
        float(expected_changes),
        _true_dates(log),
    )


def spread_of_candidates(decisions: xr.Dataset) -> np.ndarray:
    """Root mean square difference between two candidates of one decision, by feature (feature,); 1 if there is none."""
    available = decisions["available"].values
    counts = available.sum(axis=1)
    several = counts > 1
    context = np.where(available[..., None], decisions["context"].values, 0.0)[several]
    number = counts[several][:, None]
    centred = np.where(
        available[several][..., None], context - context.sum(axis=1, keepdims=True) / number[..., None], 0
    )
    # The mean square difference of two of n values is twice their variance with divisor n - 1.
    variance = (centred**2).sum(axis=1) / (number - 1)
    spread = np.sqrt(2 * variance.mean(axis=0)) if several.any() else np.zeros(decisions.sizes["feature"])
    return np.where(spread > 0, spread, 1.0)


def shortest_window(mass: np.ndarray, first: np.ndarray, last: np.ndarray, probability: float) -> tuple[int, int]:
    """Numbers of the first and last cell of the shortest run of cells that holds this probability.

    Parameters
    ----------
    mass : array (cells,)
        Probability of each cell; they sum to one.
    first, last : arrays (cells,)
        First and last date of each cell, which measure length.
    probability : float
    """
    below = np.append(0.0, np.cumsum(mass))
    # Rounding must not make the whole log a little less than the probability.
    target = min(probability, below[-1]) - 1e-12
    windows = []
    for low in range(len(mass)):
        high = int(np.searchsorted(below, below[low] + target)) - 1
        if high < len(mass):
            high = max(high, low)
            windows.append((last[high] - first[low], -(below[high + 1] - below[low]), low, high))
    return min(windows)[2:]


def _dates(divisions: Divisions, time: np.ndarray, weights: xr.DataArray, ci_prob: float) -> tuple[DateOfChange, ...]:
    """Each change of the most probable number of them that is not zero."""
    number = int(np.argmax(divisions.of_number()[1:])) + 1
    mean = weights.mean("draw")
    dates = []
    for mass in divisions.of_dates_given(number):
        low, high = shortest_window(mass, divisions.first_of_cell, divisions.last_of_cell, ci_prob)
        first, last = divisions.first_of_cell[low], divisions.last_of_cell[high]
        block_before, block_after = np.searchsorted(divisions.boundaries, [first - 1, last], side="right") - 1
        most_probable = divisions.boundaries[1 + int(np.argmax(mass / divisions.cell_sizes))]
        dates.append(
            DateOfChange(
                time[most_probable],
                (time[first], time[last]),
                divisions.of_any_between(low, high),
                mean.isel(block=int(block_before)),
                mean.isel(block=int(block_after)),
            )
        )
    return tuple(dates)


def _by_decision(divisions: Divisions) -> np.ndarray:
    """P(change just before each decision) (time,): that of a cell is shared equally among its dates."""
    share = divisions.of_boundaries() / divisions.cell_sizes
    return np.append(0.0, np.repeat(share, divisions.cell_sizes))


def _most_probable_scale(
    contrasts: Contrasts, spread: np.ndarray, mean: np.ndarray, steps: int, expected_changes: float
) -> float:
    """The scale of the prior with the highest evidence, summed over divisions into a few blocks."""
    grid = even_grid(steps, -(-steps // BLOCKS_TO_COMPARE))
    evidence = [
        divide(contrasts, grid, mean, np.diag((spread / scale) ** 2), expected_changes).log_evidence for scale in SCALES
    ]
    return float(SCALES[int(np.argmax(evidence))])


def _default_length(steps: int) -> int:
    """Decisions per block: the cost of the table is the square of the number of blocks times the decisions."""
    blocks = np.clip(BLOCKS * np.sqrt(BLOCKS_UP_TO / steps), LEAST_BLOCKS, BLOCKS)
    return int(np.ceil(steps / blocks))


def _true_dates(decisions: xr.Dataset) -> np.ndarray | None:
    """Times of the first decisions under a new true preference."""
    if "true_belief" not in decisions or "reward_context" in decisions:
        return None
    belief = decisions["true_belief"].transpose("time", "feature").values
    changed = np.flatnonzero((belief[1:] != belief[:-1]).any(axis=1)) + 1
    return decisions["time"].values[changed] if len(changed) <= MOST_TRUE_DATES else None


def _check_options(alpha: float, expected_changes: float, prior_mean: float, prior_scale: float | None) -> None:
    positive = {"alpha": alpha, "expected_changes": expected_changes, "prior_scale": prior_scale}
    for name, value in positive.items():
        if value is None and name == "prior_scale":
            continue
        if not isinstance(value, (int, float, np.integer, np.floating)) or not 0 < value < np.inf:
            raise InputError(f"{name}={value}: give a positive number.")
    if not isinstance(prior_mean, (int, float, np.integer, np.floating)) or not np.isfinite(prior_mean):
        raise InputError(f"prior_mean={prior_mean}: give a number.")


def _plain_time(moment: Any) -> Any:
    return str(moment).partition(".")[0] if np.asarray(moment).dtype.kind == "M" else np.asarray(moment).item()


def _plain_weights(weights: xr.DataArray) -> dict[str, float]:
    return {str(name): float(value) for name, value in zip(weights["feature"].values, weights.values, strict=True)}
