"""The answer to when preferences changed: how many times, on which dates, and from what to what."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from icb_pymc.assess.wording import format_probability
from icb_pymc.data.times import format_time
from icb_pymc.declare.folds import checked_count
from icb_pymc.io.machine import check_memory

# Above the first probability of a change "probably" is dropped; below the second no change is needed.
CLEAR, NEGLIGIBLE = 0.95, 0.05


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


def _plain_time(moment: Any) -> Any:
    return str(moment).partition(".")[0] if np.asarray(moment).dtype.kind == "M" else np.asarray(moment).item()


def _plain_weights(weights: xr.DataArray) -> dict[str, float]:
    return {str(name): float(value) for name, value in zip(weights["feature"].values, weights.values, strict=True)}
