"""Features on one scale for the sampler, and weights in the user's units for the reader."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from icb_pymc.data.sessions import seen
from icb_pymc.errors import InputError

# Standard deviation, in log-odds per typical difference, of a weight whose scale is not learnt: wide, since 2.5 are
# odds of 12 to 1.
WEIGHT_SD = 2.5

# Values of a feature that says whether something is so, or which of two ways: they are units already.
SIGNS = (-1.0, 0.0, 1.0)


def standardise(decisions: xr.Dataset, *, binary: bool = False, like: xr.Dataset | None = None) -> xr.Dataset:
    """Centre each numeric feature and scale it by its standard deviation within decisions, and store how.

    Features with two values one apart, such as 0 and 1 (constants of alternatives, categories), or with the values -1,
    0 and 1, and features in which the candidates of a decision never differ, stay as they are. The true weights that
    simulated decisions carry are converted with the features: a weight w per old unit becomes w times the scale, so
    that utilities keep their differences and errors against the truth stay right.

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals without choices.
    binary : bool
        Whether to scale features with two values, too.
    like : Dataset, optional
        Standardised decisions whose means and scales these are to share.

    Returns
    -------
    Dataset
        The same with a standardised ``context``, and with ``feature_mean`` and ``feature_scale`` (feature). Where the
        decisions had these already they are composed, so that they always convert back to the original units.

    Raises
    ------
    InputError
        If the decisions that these are to be like have other features or are not standardised, or these already are.

    Notes
    -----
    An agent may weigh other features than those recorded (``reward_context``). Its true weights are then per unit of
    ``reward_context``, and both are left as they are.

    Examples
    --------
    The second feature is left as it is:

    >>> import icb_pymc
    >>> context = [[[50.0, 1.0], [60.0, 0.0]], [[40.0, 0.0], [70.0, 1.0]]]
    >>> decisions = icb_pymc.from_arrays(context, [0, 1], features=["age", "relapse"])
    >>> standardised = icb_pymc.standardise(decisions)
    >>> standardised["feature_mean"].values, standardised["feature_scale"].values.round(3)
    (array([55.,  0.]), array([15.811,  1.   ]))
    """
    mask = xr.DataArray(seen(decisions), dims=("time", "action"))
    context = decisions["context"].where(mask)
    if like is None:
        kept = ~scaled_features(decisions, binary)
        scale = context.isel(time=0, action=0, drop=True).copy(data=np.where(kept, 1.0, deviation_within(decisions)))
        mean = context.mean(("time", "action")).where(~kept, 0.0)
    else:
        scale, mean = _scaling_of(like, decisions)
    old_mean = decisions.get("feature_mean", xr.zeros_like(mean))
    old_scale = decisions.get("feature_scale", xr.ones_like(scale))
    standardised = ((context - mean) / scale).where(mask, 0.0).transpose(*decisions["context"].dims)
    changed = {
        "context": standardised,
        "feature_mean": old_mean + old_scale * mean,
        "feature_scale": old_scale * scale,
    }
    return decisions.assign(changed | {name: decisions[name] * scale for name in _true_weights(decisions)})


def standardise_together(logs: Mapping[str, xr.Dataset], *, binary: bool = False) -> dict[str, xr.Dataset]:
    """`standardise` several logs by the same means and scales, those of all their decisions together.

    Parameters
    ----------
    logs : mapping of str to Dataset
        Decisions by name.
    binary : bool
        Whether to scale features with two values, too.

    Raises
    ------
    InputError
        If a log has other features than the first.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.data.standardisation import standardise_together
    >>> logs = {name: icb_pymc.from_arrays([[[size], [0.0]]], [0]) for name, size in (("a", 2.0), ("b", 4.0))}
    >>> [float(log["feature_scale"][0].round(3)) for log in standardise_together(logs).values()]
    [2.236, 2.236]
    """
    first, *_ = logs.values()
    for name, log in logs.items():
        if not np.array_equal(log["feature"].values, first["feature"].values):
            given, expected = (", ".join(map(str, of["feature"].values)) for of in (log, first))
            raise InputError(f"{name}: its features are {given}, but those of the first are {expected}.")
    widest = max(log.sizes["action"] for log in logs.values())
    context, available = (
        np.concatenate([_padded(values(log), widest) for log in logs.values()])
        for values in (lambda log: log["context"].values, seen)
    )
    together = xr.Dataset(
        {"context": (("time", "action", "feature"), context), "available": (("time", "action"), available)},
        {"feature": first["feature"].values},
    )
    common = standardise(together, binary=binary)
    return {name: standardise(log, like=common) for name, log in logs.items()}


def _padded(values: np.ndarray, widest: int) -> np.ndarray:
    """Values of candidates (time, action, ...) with empty slots, so that there are so many."""
    return np.pad(values, [(0, 0), (0, widest - values.shape[1]), *[(0, 0)] * (values.ndim - 2)])


def scaled_features(decisions: xr.Dataset, binary: bool = False) -> np.ndarray:
    """Which features are on a scale that means nothing, (feature,): numbers in which candidates differ.

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals without choices.
    binary : bool
        Whether features with two values one apart, or with the values -1, 0 and 1, are among them.
    """
    scaled = deviation_within(decisions) > 0
    values = decisions["context"].values[seen(decisions)]
    return scaled if binary else scaled & ~np.array([_is_unit(column) for column in values.T], dtype=bool)


def deviation_within(decisions: xr.Dataset) -> np.ndarray:
    """Standard deviation of each feature among the candidates of a decision, (feature,): its root mean square.

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals without choices.

    Returns
    -------
    array (feature,)
        Zero for a feature in which candidates never differ.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.data.standardisation import deviation_within
    >>> decisions = icb_pymc.from_arrays([[[50.0, 1.0], [56.0, 1.0]], [[48.0, 4.0], [40.0, 4.0]]], [0, 1])
    >>> deviation_within(decisions)
    array([5., 0.])
    """
    return np.sqrt(_mean_square_difference(decisions) / 2)


def contrast_spread(decisions: xr.Dataset) -> np.ndarray:
    """Typical difference between two available candidates of the same decision, (feature,): its root mean square.

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals without choices.

    Returns
    -------
    array (feature,)
        One for a feature in which candidates never differ.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.data.standardisation import contrast_spread
    >>> decisions = icb_pymc.from_arrays([[[50.0, 1.0], [56.0, 3.0]], [[48.0, 4.0], [40.0, 4.0]]], [0, 1])
    >>> contrast_spread(decisions).round(3)
    array([7.071, 1.414])
    """
    square = _mean_square_difference(decisions)
    return np.where(square > 0, np.sqrt(square), 1.0)


def _mean_square_difference(decisions: xr.Dataset) -> np.ndarray:
    """Mean square of the difference between two available candidates of the same decision, (feature,)."""
    several = decisions["available"].values.sum(axis=1) > 1
    available = decisions["available"].values[several][:, :, None]
    context = decisions["context"].values[several]
    # Relative to the first candidate, so that candidates that do not differ give exactly zero.
    first = available[:, :, 0].argmax(axis=1)
    contrast = np.where(available, context - context[np.arange(len(context)), first][:, None, :], 0.0)
    number = available.sum(axis=1)
    deviation = np.where(available, contrast - contrast.sum(axis=1, keepdims=True) / number[:, :, None], 0.0)
    # The mean square of the difference between two candidates is twice their variance.
    return (2 * (deviation**2).sum(axis=1) / (number - 1)).mean(axis=0) if len(number) else np.zeros(context.shape[2])


def mean_square(decisions: xr.Dataset) -> np.ndarray:
    """Mean square of each feature over all available candidates, (feature,): what observing one tells about its weight.

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals without choices.

    Returns
    -------
    array (feature,)
        One for a feature that is always zero.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.data.standardisation import mean_square
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [3.0, 2.0]], [[0.0, 2.0], [2.0, 2.0]]], [0, 1])
    >>> mean_square(decisions)
    array([3.5, 4. ])
    """
    square = (decisions["context"].values[seen(decisions)] ** 2).mean(axis=0)
    return np.where(square > 0, square, 1.0)


def in_user_units(weights: xr.DataArray, decisions: xr.Dataset) -> xr.DataArray:
    """Convert weights of standardised features to weights per unit of the user's features.

    Parameters
    ----------
    weights : DataArray
        With a dimension ``feature``: a belief, rho or rho_env, estimated or true.
    decisions : Dataset
        From `standardise`, or from a trace of a fit to them.

    Returns
    -------
    DataArray
        The weights divided by ``feature_scale``; unchanged if the decisions were never standardised.

    Examples
    --------
    >>> import icb_pymc
    >>> import xarray as xr
    >>> context = [[[50.0, 1.0], [60.0, 2.0]], [[40.0, 4.0], [50.0, 1.0]]]
    >>> decisions = icb_pymc.from_arrays(context, [0, 1], features=["age", "inr"])
    >>> standardised = icb_pymc.standardise(decisions)
    >>> standardised["feature_scale"].values.round(3)
    array([7.071, 1.581])
    >>> weights = xr.DataArray([0.7, -0.3], coords={"feature": ["age", "inr"]})
    >>> icb_pymc.in_user_units(weights, standardised).values.round(3)
    array([ 0.099, -0.19 ])
    """
    scale = decisions.get("feature_scale")
    return weights if scale is None else weights / scale.assign_coords(feature=weights["feature"])


def user_context(decisions: xr.Dataset) -> xr.DataArray:
    """Contexts in the user's units: the inverse of `standardise`."""
    if "feature_scale" not in decisions:
        return decisions["context"]
    restored = decisions["context"] * decisions["feature_scale"] + decisions["feature_mean"]
    return restored.where(xr.DataArray(seen(decisions), dims=("time", "action")), 0.0).astype(np.float64)


def _true_weights(decisions: xr.Dataset) -> list[str]:
    """Names of the variables that hold true weights of the recorded features, such as `true_belief`."""
    if "reward_context" in decisions:
        return []
    truths = [str(name) for name in decisions.data_vars if str(name).startswith("true_")]
    # Whole numbers and flags per feature are not weights.
    return [name for name in truths if "feature" in decisions[name].dims and decisions[name].dtype.kind == "f"]


def _is_unit(values: np.ndarray) -> bool:
    """Whether the values of a feature are two, one apart, or among -1, 0 and 1."""
    distinct = np.unique(values)
    return bool(np.isin(distinct, SIGNS).all() or (len(distinct) == 2 and distinct[1] - distinct[0] == 1))


def _scaling_of(like: xr.Dataset, decisions: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    if "feature_scale" not in like or "feature_scale" in decisions:
        which = "those that they are to be like are not" if "feature_scale" not in like else "these are already"
        raise InputError(f"decisions are standardised like others that are standardised, but {which}.")
    if not np.array_equal(like["feature"].values, decisions["feature"].values):
        names = ", ".join(map(str, like["feature"].values))
        raise InputError(f"the decisions have other features than those that they are to be like, {names}.")
    return like["feature_scale"], like["feature_mean"]
