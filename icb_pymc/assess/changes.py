"""When did preferences change? The posterior of the number and the dates of changes, from all divisions of the log."""

import warnings
from collections.abc import Iterable

import numpy as np
import xarray as xr
from rich.progress import track

from icb_pymc.assess.dates_of_change import Changes, DateOfChange
from icb_pymc.assess.divisions import Divisions, divide, draw_weights, even_grid
from icb_pymc.data.decisions import validate
from icb_pymc.declare.folds import checked_count, contrasts_of
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.kernels.metropolis import Contrasts
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import checked_ci_prob, decisions_in
from icb_pymc.sample.seeds import only_seed

# The first grid of a log of up to 5,000 decisions has so many blocks; that of a longer one fewer, as its segments are
# longer. Refinement may go up to the last number of blocks.
BLOCKS, LEAST_BLOCKS, BLOCKS_UP_TO, MOST_BLOCKS = 120, 40, 5_000, 300
# Candidates for the scale of the prior, and the blocks of the grid on which they are compared.
SCALES, BLOCKS_TO_COMPARE = 2.5 * 2.0 ** np.arange(-3, 5), 16
# True preferences that change more often than this are drifting, and have no dates.
MOST_TRUE_DATES = 20


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
    seed: int | None = None,
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
        Seed of the draws. Probabilities and dates do not depend on it. `seed` is accepted too.
    progressbar : bool
        Show progress.
    seed : int, optional
        Another name of `random_seed`.

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
    random_seed = only_seed(random_seed, seed)
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
