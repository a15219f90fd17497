"""The verdict on the convergence of a trace in plain words, and what to do."""

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.assess.convergence import ESS_LIMIT, RHAT_LIMIT
from icb_pymc.results.inference_data import InferenceData, group

# Above this R-hat the chains explore different regions, and more draws of the same kind help little.
FAR_APART = 1.1
# Where effective draws suffice, R-hat may exceed its limit by this share of the limit's distance from 1.
RHAT_MARGIN = 0.5
# With fewer effective draws per draw, more draws are not a practical remedy.
LEAST_EFFICIENCY = 0.005
# Below these acceptance rates a step hardly moves: Hamiltonian steps are tuned for high rates, random walks for low.
LEAST_ACCEPTANCE = {"hmc_accept": 0.5, "acceptance_rate": 0.5, "mean_tree_accept": 0.5, "others": 0.05}
NO_POSTERIOR = {
    "laplace": "draws of Laplace's method come from the Gaussian around the mode, not from the posterior itself: there "
    "are no chains to diagnose; fit it with method 'mcmc' to see how far off they are",
    "em": "EM computes point estimates, with draws of beliefs around them: not a posterior; fit it with method 'mcmc'",
    "estimate": "this is a point estimate, not a posterior: there is nothing to diagnose",
}


def judge(
    table: pd.DataFrame,
    worst: pd.DataFrame,
    trace: InferenceData,
    components: dict[str, xr.Dataset],
    rhat_limit: float = RHAT_LIMIT,
    ess_limit: float = ESS_LIMIT,
) -> tuple[str, bool]:
    """The verdict, and whether the chains have converged.

    Parameters
    ----------
    table, worst, components
        `blocks`, `worst` and `components` of a `Diagnosis`.
    trace : InferenceData
    rhat_limit, ess_limit : float
        As in `diagnose`.
    """
    broken = [name for name, path in group(trace, "posterior").items() if not np.isfinite(path.values).all()]
    if broken:
        return f"'{broken[0]}' has draws that are not finite numbers", False
    if trace.attrs.get("unconverged"):
        # Differences between the models of an average may hide those between the chains of one of them.
        return f"not all models of this average have converged ({trace.attrs['unconverged']})", False
    if not len(worst):
        return "no component ever moved, so there is nothing to diagnose", False
    least = float(np.nanmin(table[["bulk ESS", "tail ESS"]].values))
    sizes = f"lowest ESS {least:.0f}"
    variable, at = worst.index[0]
    component = f"{variable} at {at}" if at else str(variable)
    if group(trace, "posterior").sizes["chain"] == 1:
        return f"there is only one chain, and R-hat needs two or more ({sizes}, {component})", False
    rhat = float(table["R-hat"].max())
    figures = f"worst R-hat {rhat:.3f}, {sizes}"
    above = _count(components, rhat_limit)
    # R-hat itself is an estimate: by so little it exceeds the limit by chance, where effective draws suffice.
    is_tolerable = rhat < rhat_limit + RHAT_MARGIN * (rhat_limit - 1) and least >= ess_limit
    if rhat >= rhat_limit and not is_tolerable:
        excess = f"{rhat - rhat_limit:.3f} above the limit of {rhat_limit:g}, which {above}"
        return (
            f"the chains have not converged to the same distribution ({figures}; worst: {component}; "
            f"R-hat is {excess})",
            False,
        )
    if least < ess_limit:
        return (
            f"the chains agree, but there are too few effective draws ({figures}; worst: {component}; the limit is "
            f"{ess_limit:g})",
            False,
        )
    if rhat >= rhat_limit:
        figures += f"; R-hat is hardly above the limit of {rhat_limit:g}, which {above}; worst: {component}"
    if trace.attrs.get("interrupted"):
        return f"the chains agree ({figures}), though sampling was interrupted", True
    return f"the chains agree and there are enough draws ({figures})", True


def _count(components: dict[str, xr.Dataset], rhat_limit: float) -> str:
    """How many quantities have an R-hat above the limit."""
    rhats = np.concatenate([each["rhat"].values.ravel() for each in components.values()])
    rhats = rhats[np.isfinite(rhats)]
    return f"{int((rhats >= rhat_limit).sum())} of {len(rhats)} quantities exceed"


def advise(
    table: pd.DataFrame,
    acceptance: pd.DataFrame,
    trace: InferenceData,
    converged: bool,
    rhat_limit: float = RHAT_LIMIT,
    ess_limit: float = ESS_LIMIT,
) -> list[str]:
    """What to do, and other warnings; the arguments are as in `judge`, with the `acceptance` of a `Diagnosis`."""
    lines = []
    kernel, posterior = trace.attrs.get("kernel"), group(trace, "posterior")
    made = posterior.sizes["chain"] * posterior.sizes["draw"]
    if kernel == "paper":
        lines.append(
            "the kernel printed in the paper does not leave the posterior invariant, so even chains that agree "
            "are biased: fit it with kernel 'engine' (the default where it applies) or 'gibbs'"
        )
    if trace.attrs.get("interrupted"):
        lines.append("sampling was interrupted: these are the draws made until then; fit it again for the rest")
    if "divergences" in acceptance.index and acceptance.loc["divergences"].sum():
        lines.append(
            f"{acceptance.loc['divergences'].sum():.0f} divergences: the posterior is too curved for NUTS's steps; "
            "reparametrise (non-centred), raise target_accept, or use kernel 'engine' where it applies"
        )
    for name, rates in acceptance.iterrows():
        least = LEAST_ACCEPTANCE.get(str(name), LEAST_ACCEPTANCE["others"]) if "accept" in str(name) else -np.inf
        if rates.min() < least:
            lines.append(
                f"{name} is {rates.min():.2f} in {rates.idxmin()}: most of its proposals are rejected; tune for longer"
            )
    if converged:
        return lines
    if trace.attrs.get("method") == "average":
        lines.append("diagnose the trace of each model, fit again those that have not converged, and average again")
        return lines
    if posterior.sizes["chain"] == 1:
        lines.append("use two chains or more (four by default), so that they can be compared")
    least = float(np.nanmin(table[["bulk ESS", "tail ESS"]].values)) if table["bulk ESS"].notna().any() else np.nan
    rhat = float(table["R-hat"].max())
    is_slow = least / made < LEAST_EFFICIENCY
    if rhat >= FAR_APART or is_slow:
        better = "kernel 'gibbs', 'nuts' or 'nutpie'" if kernel == "engine" else "kernel 'engine', or 'nuts'"
        why = "the chains explore different regions" if rhat >= FAR_APART else f"{made} draws are worth {least:.0f}"
        lines.append(f"{why}: more draws would take too long; use another sampler ({better}), or reparametrise")
    elif least < ess_limit or rhat >= rhat_limit:
        needed = posterior.sizes["draw"] * max(ess_limit / least, 2.0)
        lines.append(f"use more draws: about {_round_up(needed)} per chain (there are {posterior.sizes['draw']})")
    return lines


def _round_up(number: float) -> int:
    """To two significant digits."""
    unit = 10 ** max(int(np.floor(np.log10(number))) - 1, 0)
    return int(np.ceil(number / unit) * unit)
