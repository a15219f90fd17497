"""Did an event change what counted? The posterior of the change in a feature's importance around a date."""

import difflib
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from icb_pymc.assess.convergence import HIGHEST_RHAT, rank_rhat
from icb_pymc.assess.metrics import relative_importance
from icb_pymc.data.times import format_time, length_of_time, time_within
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import checked_ci_prob, draws_of

# The least probability of direction at which the verdict calls a change clear, and probable.
CLEAR, PROBABLE = 0.975, 0.9


@dataclass(frozen=True)
class Impact:
    """Result of `impact`: change of a feature's relative importance around an event; print it for a summary.

    Attributes
    ----------
    feature : str
    event : datetime64 or int
    windows : tuple
        Start of the window before and end of the window after, in the time of the log.
    decisions : tuple of int
        How many decisions of the log lie in each window.
    before, after : array (draw,)
        Posterior draws of the mean relative importance in each window.
    ci_prob : float
        Probability of the central credible interval.
    change : array (draw,)
        Posterior draws of the change.
    interval : tuple of float
        Central credible interval of the change.
    rose : bool
        Whether a rise is more probable than a fall.
    direction : float
        Probability of the more probable of rise and fall.
    verdict : str
        Whether it rose or fell, and how probable that is.
    """

    feature: str
    event: Any
    windows: tuple[Any, Any]
    decisions: tuple[int, int]
    before: np.ndarray
    after: np.ndarray
    ci_prob: float

    @property
    def change(self) -> np.ndarray:
        """Posterior draws of the change (draw,)."""
        return self.after - self.before

    @property
    def interval(self) -> tuple[float, float]:
        """Central credible interval of the change."""
        tail = (1 - self.ci_prob) / 2
        low, high = np.quantile(self.change, [tail, 1 - tail])
        return float(low), float(high)

    @property
    def rose(self) -> bool:
        """Whether a rise is more probable than a fall."""
        return bool(np.mean(self.change > 0) >= 0.5)

    @property
    def direction(self) -> float:
        """Probability of direction: that of the more probable of rise and fall."""
        return float(np.mean(self.change > 0 if self.rose else self.change < 0))

    @property
    def verdict(self) -> str:
        """Whether it rose or fell, and how probable that is."""
        verb = "rose" if self.rose else "fell"
        if len(self.change) == 1 and self.direction == 1:
            return f"it {verb} (a point estimate, without a probability)"
        words = (
            "it" if self.direction >= CLEAR else "it probably" if self.direction >= PROBABLE else "not clear that it"
        )
        return f"{words} {verb} (probability {self._format_direction()})"

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"The relative importance of {self.feature} went from {self.before.mean():.1%} to {self.after.mean():.1%} "
            f"around {format_time(self.event)}: {100 * self.change.mean():+.1f} points "
            f"({self.ci_prob:.0%} credible interval {100 * low:+.1f} to {100 * high:+.1f}).\n"
            f"Verdict: {self.verdict}, judged by {self.decisions[0]} decisions before and {self.decisions[1]} after."
        )

    def _format_direction(self) -> str:
        if self.direction < 0.9995:
            return f"{self.direction:.1%}"
        # Never rounded up to 100%: draws that all agree show only that an exception is rarer than one in their number.
        draws = len(self.change)
        agreeing = min(round(self.direction * draws), draws - 1)
        return f"over {1000 * agreeing // draws / 10:.1f}%"


def impact(
    trace: InferenceData, feature: str, event: Any, *, before: Any, after: Any, ci_prob: float | None = None
) -> Impact:
    """Posterior of the change in a feature's relative importance around an event.

    In each draw the importance |beta_t(i)| / sum_j |beta_t(j)| is averaged over the decisions of a window before the
    event, [event - before, event), and of one after it, [event, event + after); the change is their difference.

    Choose the event and the windows before looking at the trace: if many dates are tried, some will seem to matter.
    Beliefs that move slowly a priori spread a sudden change over both windows, which makes it look smaller, not larger.

    Parameters
    ----------
    trace : InferenceData
    feature : str
    event : date or int
        Like ``"2002-02-27"``, or a number where the decisions are numbered.
    before, after : str or int
        Lengths of the windows, like ``"730D"``, or a number where the decisions are numbered. Windows that reach past
        the ends of the log are cut there.
    ci_prob : float, optional
        Probability of the central credible interval; by default that of ArviZ's ``rcParams["stats.ci_prob"]``.

    Returns
    -------
    Impact

    Raises
    ------
    InputError
        If the trace has no beliefs or no such feature, the event lies outside the decisions, or a window is empty.

    Warns
    -----
    InputWarning
        If the chains disagree on the change (R-hat above 1.05).

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> result = icb_pymc.impact(trace, "age", 250, before=200, after=200, ci_prob=0.9)
    >>> result.verdict
    'it probably rose (probability 95.3%)'
    >>> low, high = result.interval
    >>> round(low, 3), round(high, 3)
    (0.001, 0.077)
    """
    ci_prob = checked_ci_prob(ci_prob)
    belief = draws_of(trace, "belief")
    name = _known_feature(belief, feature)
    time = _time_of_decisions(trace)
    at = time_within(time, event)
    start, end = at - length_of_time(time, before, "before"), at + length_of_time(time, after, "after")
    windows = {"before": (start, at), "after": (at, end)}
    draws = {which: _mean_importance(belief, name, window, which) for which, window in windows.items()}
    _warn_if_chains_disagree(draws["after"] - draws["before"], name)
    first, second = (int(np.sum((time >= low) & (time < high))) for low, high in windows.values())
    flat = {which: values.transpose("chain", "draw").values.ravel() for which, values in draws.items()}
    return Impact(name, at, (start, end), (first, second), flat["before"], flat["after"], ci_prob)


def _mean_importance(belief: xr.DataArray, feature: str, window: tuple[Any, Any], which: str) -> xr.DataArray:
    time = belief["time"].values
    inside = (time >= window[0]) & (time < window[1])
    if not inside.any():
        raise InputError(f"the window {which} the event holds no decision of the trace; make {which} longer.")
    return relative_importance(belief.isel(time=inside)).sel(feature=feature).mean("time")


def _warn_if_chains_disagree(change: xr.DataArray, feature: str) -> None:
    if change.sizes["chain"] < 2 or change.sizes["draw"] < 4:
        return
    rhat = float(rank_rhat(change))
    if rhat > HIGHEST_RHAT:
        warnings.warn(
            f"the chains disagree on the change of {feature} (R-hat {rhat:.2f}), so do not rely on its probability; "
            "fit again with more draws or sweeps.",
            InputWarning,
            stacklevel=2,
        )


def _known_feature(belief: xr.DataArray, feature: str) -> str:
    known = [str(name) for name in belief["feature"].values]
    if feature not in known:
        near = difflib.get_close_matches(feature.lower(), known, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}."
        raise InputError(f"there is no feature '{feature}' in the trace: {hint}")
    return feature


def _time_of_decisions(trace: InferenceData) -> np.ndarray:
    """Times of all decisions, of which the posterior may keep fewer."""
    data = group(trace, "constant_data")
    return (data if "time" in data.coords else group(trace, "posterior"))["time"].values
