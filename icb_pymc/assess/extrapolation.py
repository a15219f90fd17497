"""Whether rho_env is known from choices, or extrapolated from the part of it that the agent has learnt."""

from icb_pymc.results.inference_data import InferenceData, group

# Where the agent has learnt a smaller share of rho_env, the prior decides how far the rest of the way is.
LEAST_SHARE = 0.8


def extrapolation(trace: InferenceData) -> str | None:
    """A sentence that says that rho_env is extrapolated, if by the end the agent had learnt less than about 0.8 of it.

    Parameters
    ----------
    trace : InferenceData

    Returns
    -------
    str or None
        None if the agent had learnt more, or the trace has no `share_learnt`, which `fit` computes for B-ICB.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray as xr
    >>> from icb_pymc.results.inference_data import from_groups
    >>> posterior = xr.Dataset({"share_learnt": (("chain", "draw"), np.full((2, 50), 0.6))})
    >>> extrapolation(from_groups({"posterior": posterior}, {}))[:67]
    'rho_env is extrapolated: by the end the agent had learnt 60% of it '
    """
    posterior = group(trace, "posterior")
    if "share_learnt" not in posterior:
        return None
    low, middle, high = posterior["share_learnt"].quantile([0.05, 0.5, 0.95]).values
    if middle >= LEAST_SHARE:
        return None
    return (
        f"rho_env is extrapolated: by the end the agent had learnt {middle:.0%} of it (90% interval {low:.0%} to "
        f"{high:.0%}), and how far the rest of the way is depends on the prior; final_belief is what it had learnt"
    )
