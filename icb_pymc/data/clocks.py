"""How much time passes between decisions: by the calendar, by their number, or on a clock of each agent's own."""

import numpy as np
import xarray as xr

from icb_pymc.data.times import length_of_time

# The unit of time that counts decisions.
BY_DECISION = "decision"


def elapsed_time(decisions: xr.Dataset, unit: str | None = None) -> np.ndarray:
    """Time between consecutive decisions, (time - 1,).

    Parameters
    ----------
    decisions : Dataset
    unit : str, optional
        Measure time in this unit: like ``"30D"`` where decisions are dated, a number like ``"1"`` where not. Without a
        unit, or with ``"decision"``, each decision is one step. Decisions at the same time count as a thousandth of a
        unit apart, so that the belief has a density at each.
    """
    time = decisions["time"].values
    if unit is None or str(unit) == BY_DECISION:
        return np.ones(len(time) - 1)
    gaps = np.diff(time) / length_of_time(time, str(unit))
    return np.maximum(gaps.astype(np.float64), 1e-3)


def shares_of_time(decisions: xr.Dataset, unit: str | None = None) -> np.ndarray:
    """Shares of the whole log that lie between consecutive decisions, (time - 1,); they sum to one.

    Parameters
    ----------
    decisions : Dataset
    unit : str, optional
        By default shares of real time where decisions are dated and of their number where not. ``"decision"`` counts
        decisions in any case; a unit of time like ``"30D"`` or ``"1"`` measures time in any case. Decisions at the same
        time count as a thousandth of the unit apart, without one as a thousandth of the mean time between decisions.

    Examples
    --------
    >>> import icb_pymc, numpy as np
    >>> from icb_pymc.data.clocks import shares_of_time
    >>> time = np.array(["2001-01-01", "2001-01-02", "2001-01-05"], "datetime64[ns]")
    >>> decisions = icb_pymc.from_arrays([[[1.0], [0.0]]] * 3, [0, 1, 0], time=time)
    >>> shares_of_time(decisions), shares_of_time(decisions, "decision")
    (array([0.25, 0.75]), array([0.5, 0.5]))
    """
    time = decisions["time"].values
    gaps = elapsed_time(decisions, unit)
    if unit is None and time.dtype.kind == "M" and time[-1] > time[0]:
        real = np.diff(time) / np.timedelta64(1, "s")
        gaps = np.maximum(real, 1e-3 * real.mean())
    return gaps / gaps.sum() if len(gaps) else gaps


def own_moments(decisions: xr.Dataset, unit: str | None = None, *, as_shares: bool = True) -> np.ndarray:
    """When each decision was made on the clock of its agent, (time,): zero at the first decision of every agent.

    Parameters
    ----------
    decisions : Dataset
        Decisions that say who decided.
    unit : str, optional
        By default an agent's clock counts its decisions, or shows real time where decisions are dated; a unit or
        ``"decision"`` as in `shares_of_time`.
    as_shares : bool
        Whether to measure in shares of the longest log of an agent, so that this one ends at one. Otherwise in units,
        or in decisions if there is no unit.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.data.clocks import own_moments
    >>> agents = ["Ada", "Bo", "Ada", "Ada", "Bo"]
    >>> own_moments(icb_pymc.from_arrays([[[1.0], [0.0]]] * 5, [0, 1, 0, 1, 0], agent=agents))
    array([0. , 0. , 0.5, 1. , 0.5])
    """
    decider, moments = decisions["decider"].values, np.zeros(decisions.sizes["time"])
    for agent in np.unique(decider):
        own = np.flatnonzero(decider == agent)
        log = decisions.isel(time=own)
        gaps = elapsed_time(log, unit)
        if as_shares and unit is None and log["time"].dtype.kind == "M":
            real = np.diff(log["time"].values) / np.timedelta64(1, "s")
            gaps = np.maximum(real, 1e-3 * real.mean()) if real.any() else gaps
        moments[own[1:]] = np.cumsum(gaps)
    longest = moments.max(initial=0.0)
    return moments / longest if as_shares and longest > 0 else moments
