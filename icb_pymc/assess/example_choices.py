"""What a change of weights means for a choice: decisions of the log, as they would be made before and after it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import softmax

from icb_pymc.assess.weights import feature_sd
from icb_pymc.data.standardisation import user_context
from icb_pymc.data.times import time_within
from icb_pymc.errors import InputError

# Decisions of the log by how much the change of weights alters them: one that changes much, a typical one, one that
# hardly changes. The extremes would be the least typical ones of all.
QUANTILES = (0.95, 0.5, 0.05)
# A decision with more candidates than this shows those whose probabilities changed most.
MOST_CANDIDATES = 5
# Draws that the probabilities are computed from: enough for two digits.
DRAWS = 500


@dataclass(frozen=True)
class ExampleCandidate:
    """A candidate of an example.

    Attributes
    ----------
    slot : int
        Its position among the candidates of the decision.
    name : str
        What the log calls it; empty if it names no candidates.
    chosen : bool
        Whether it was chosen in the log.
    values : dict
        Its features in the user's units.
    before, after : tuple of float
        Probability of being chosen with the weights before and after: mean and interval.
    moved_by : dict
        How far each feature moved its log-odds against the average of the other candidates, largest first.
    """

    slot: int
    name: str
    chosen: bool
    values: dict[str, float]
    before: tuple[float, float, float]
    after: tuple[float, float, float]
    moved_by: dict[str, float]

    @property
    def change(self) -> float:
        """Change of the probability of being chosen."""
        return self.after[0] - self.before[0]


@dataclass(frozen=True)
class ExampleChoice:
    """A decision of the log, as it would be made with the weights before and after an event.

    Attributes
    ----------
    time : datetime64 or int
    changed_more_than : float or None
        Share of the log's decisions that the change of weights alters less; None where the user named it.
    candidates : tuple of ExampleCandidate
        The one whose probability changed most comes first.
    left_out : int
        Further candidates that are not shown.
    """

    time: Any
    changed_more_than: float | None
    candidates: tuple[ExampleCandidate, ...]
    left_out: int


def example_choices(
    decisions: xr.Dataset,
    before: np.ndarray,
    after: np.ndarray,
    *,
    times: Sequence[Any] | None = None,
    ci_prob: float = 0.94,
    lapse: float = 0.0,
) -> list[ExampleChoice]:
    """Decisions of the log with the probability of each candidate before and after, and the features that moved it.

    Parameters
    ----------
    decisions : Dataset
    before, after : arrays (draw, feature)
        Draws of the weights in log-odds per standard deviation of the features; the features are those of the log.
    times : sequence of dates or int, optional
        Which decisions to show; by default the ones that the change alters more than 95%, 50% and 5% of the log.
    ci_prob : float
        Probability of the intervals.
    lapse : float
        Probability that a choice is made at random.

    Returns
    -------
    list of ExampleChoice
        Empty where no decision had more than one candidate.

    Raises
    ------
    InputError
        If there is no decision at a time, or it had only one candidate.

    Examples
    --------
    >>> import icb_pymc, numpy as np
    >>> from icb_pymc.assess.example_choices import example_choices
    >>> decisions = icb_pymc.from_arrays([[[1.0], [0.0]], [[0.2], [0.0]]], [0, 0], features=["inr"])
    >>> (choice,) = example_choices(decisions, np.zeros((9, 1)), np.ones((9, 1)), times=[1])
    >>> [(round(candidate.before[0], 2), round(candidate.after[0], 2)) for candidate in choice.candidates]
    [(0.5, 0.88), (0.5, 0.12)]
    """
    available = decisions["available"].values.astype(bool)
    several = np.flatnonzero(available.sum(axis=1) > 1)
    if not len(several):
        return []
    old, new = (_per_unit(decisions, draws) for draws in (before, after))
    context = decisions["context"].values
    if times is None:
        moved = np.abs(_mean_probability(context, available, new) - _mean_probability(context, available, old))
        largest = moved.max(axis=1)[several]
        order = several[np.argsort(largest, kind="stable")]
        positions = [int(order[round(share * (len(order) - 1))]) for share in QUANTILES]
        shown: list[tuple[int, float | None]] = list(zip(positions, QUANTILES, strict=True))
        shown = [pair for i, pair in enumerate(shown) if pair[0] not in positions[:i]]
    else:
        shown = [(_position(decisions, moment, available), None) for moment in times]
    return [_choice(decisions, t, share, old, new, ci_prob, lapse) for t, share in shown]


def _per_unit(decisions: xr.Dataset, draws: np.ndarray) -> np.ndarray:
    """Weights per unit of the model's features; evenly spaced draws, as many as are needed."""
    sd = feature_sd(decisions).values
    kept = draws[np.unique(np.linspace(0, len(draws) - 1, DRAWS).round().astype(int))]
    return kept * np.where(sd > 0, 1 / np.where(sd > 0, sd, 1.0), 0.0)


def _mean_probability(context: np.ndarray, available: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Choice probabilities (time, action) at the mean weights, which is enough to rank decisions."""
    return softmax(np.where(available, context @ weights.mean(axis=0), -np.inf), axis=1)


def _position(decisions: xr.Dataset, moment: Any, available: np.ndarray) -> int:
    time = decisions["time"].values
    found = np.flatnonzero(time == time_within(time, moment))
    if not len(found):
        near = time[np.argmin(np.abs(time - time_within(time, moment)))]
        raise InputError(f"example {moment}: there is no decision at that time; the nearest is at {near}.")
    if available[found[0]].sum() < 2:
        raise InputError(f"example {moment}: there was only one candidate, so nothing was chosen; name another.")
    return int(found[0])


def _choice(
    decisions: xr.Dataset,
    t: int,
    share: float | None,
    old: np.ndarray,
    new: np.ndarray,
    ci_prob: float,
    lapse: float,
) -> ExampleChoice:
    slots = np.flatnonzero(decisions["available"].values[t].astype(bool))
    context = decisions["context"].values[t][slots]
    values = user_context(decisions.isel(time=[t])).values[0][slots]
    tail = (1 - ci_prob) / 2
    chances = []
    for weights in (old, new):
        drawn = (1 - lapse) * softmax(weights @ context.T, axis=1) + lapse / len(slots)
        chances.append(np.vstack([drawn.mean(axis=0), np.quantile(drawn, [tail, 1 - tail], axis=0)]))
    others = (context.sum(axis=0) - context) / (len(slots) - 1)
    # In log-odds against the average of the others: linear, so the parts of the features add up to the whole.
    parts = (new.mean(axis=0) - old.mean(axis=0)) * (context - others)
    names = [str(name) for name in decisions["feature"].values]
    chosen = int(decisions["chosen"].values[t]) if "chosen" in decisions else -1
    candidates = []
    for row, slot in enumerate(slots):
        order = np.argsort(-np.abs(parts[row]), kind="stable")
        candidates.append(
            ExampleCandidate(
                int(slot),
                str(decisions["candidate"].values[t, slot]) if "candidate" in decisions else "",
                bool(slot == chosen),
                {name: float(value) for name, value in zip(names, values[row], strict=True)},
                _triple(chances[0][:, row]),
                _triple(chances[1][:, row]),
                {names[i]: float(parts[row][i]) for i in order},
            )
        )
    # Rounded, so that two candidates that only change places keep their order.
    candidates.sort(key=lambda candidate: -round(abs(candidate.change), 9))
    kept = tuple(candidates[:MOST_CANDIDATES])
    return ExampleChoice(decisions["time"].values[t], share, kept, len(candidates) - len(kept))


def _triple(values: np.ndarray) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])
