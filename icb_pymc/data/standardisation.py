"""Features on one scale for the sampler, and weights in the user's units for the reader."""

import numpy as np
import xarray as xr

# Standard deviation, in log-odds per typical difference, of a weight whose scale is not learnt: wide, since 2.5 are
# odds of 12 to 1.
WEIGHT_SD = 2.5


def standardise(decisions: xr.Dataset) -> xr.Dataset:
    """Centre and scale each feature over all available candidates, and store how.

    The true weights that simulated decisions carry are converted with the features: a weight w per old unit becomes
    w times the scale, so that utilities keep their differences and errors against the truth stay right.

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals without choices.

    Returns
    -------
    Dataset
        The same with a standardised ``context``, and with ``feature_mean`` and ``feature_scale`` (feature). Where the
        decisions had these already they are composed, so that they always convert back to the original units.
        A constant feature is only centred.

    Notes
    -----
    An agent may weigh other features than those recorded (``reward_context``). Its true weights are then per unit of
    ``reward_context``, and both are left as they are.

    Examples
    --------
    >>> import icb_pymc
    >>> context = [[[50.0, 1.0], [60.0, 2.0]], [[40.0, 4.0], [70.0, 1.0]]]
    >>> decisions = icb_pymc.from_arrays(context, [0, 1], features=["age", "inr"])
    >>> standardised = icb_pymc.standardise(decisions)
    >>> standardised["feature_mean"].values
    array([55.,  2.])
    >>> standardised["context"].std(("time", "action")).values.round(6)
    array([1., 1.])
    """
    mask = decisions["available"]
    context = decisions["context"].where(mask)
    mean = context.mean(("time", "action"))
    scale = context.std(("time", "action"))
    scale = xr.where(scale > 0, scale, 1.0)
    old_mean = decisions.get("feature_mean", xr.zeros_like(mean))
    old_scale = decisions.get("feature_scale", xr.ones_like(scale))
    standardised = ((context - mean) / scale).where(mask, 0.0).transpose(*decisions["context"].dims)
    return decisions.assign(
        context=standardised,
        feature_mean=old_mean + old_scale * mean,
        feature_scale=old_scale * scale,
        **{name: decisions[name] * scale for name in _true_weights(decisions)},
    )


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
    several = decisions["available"].values.sum(axis=1) > 1
    available = decisions["available"].values[several][:, :, None]
    context = decisions["context"].values[several]
    # Relative to the first candidate, so that candidates that do not differ give exactly zero.
    first = available[:, :, 0].argmax(axis=1)
    contrast = np.where(available, context - context[np.arange(len(context)), first][:, None, :], 0.0)
    number = available.sum(axis=1)
    deviation = np.where(available, contrast - contrast.sum(axis=1, keepdims=True) / number[:, :, None], 0.0)
    # The mean square of the difference between two candidates is twice their variance.
    square = (2 * (deviation**2).sum(axis=1) / (number - 1)).mean(axis=0) if len(number) else np.zeros(context.shape[2])
    return np.where(square > 0, np.sqrt(square), 1.0)


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
    square = (decisions["context"].values[decisions["available"].values] ** 2).mean(axis=0)
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
    array([7.071, 1.225])
    >>> weights = xr.DataArray([0.7, -0.3], coords={"feature": ["age", "inr"]})
    >>> icb_pymc.in_user_units(weights, standardised).values.round(3)
    array([ 0.099, -0.245])
    """
    scale = decisions.get("feature_scale")
    return weights if scale is None else weights / scale.assign_coords(feature=weights["feature"])


def user_context(decisions: xr.Dataset) -> xr.DataArray:
    """Contexts in the user's units: the inverse of `standardise`."""
    if "feature_scale" not in decisions:
        return decisions["context"]
    restored = decisions["context"] * decisions["feature_scale"] + decisions["feature_mean"]
    return restored.where(decisions["available"], 0.0).astype(np.float64)


def _true_weights(decisions: xr.Dataset) -> list[str]:
    """Names of the variables that hold true weights of the recorded features, such as `true_belief`."""
    if "reward_context" in decisions:
        return []
    truths = [str(name) for name in decisions.data_vars if str(name).startswith("true_")]
    # Whole numbers and flags per feature are not weights.
    return [name for name in truths if "feature" in decisions[name].dims and decisions[name].dtype.kind == "f"]
