"""Whether to believe a trace: have its chains converged, are there enough draws, did the steps work, and what to do."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.assess.convergence import ESS_LIMIT, LEAST_DRAWS, QUANTITIES, RHAT_LIMIT, convergence, is_constant
from icb_pymc.assess.convergence_verdict import NO_POSTERIOR, advise, judge
from icb_pymc.assess.extrapolation import extrapolation
from icb_pymc.assess.predictive_checks import ChoiceCheck, check_choices, has_probabilities
from icb_pymc.assess.unchanging import AgainstUnchanging, against_unchanging
from icb_pymc.data.times import format_time
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData, group

# Rows of the table of the worst components.
WORST_SHOWN = 5


@dataclass(frozen=True)
class Diagnosis:
    """Result of `diagnose`; print it for a report.

    Attributes
    ----------
    blocks : DataFrame
        A row for each variable: how many components it has, how many of them never change (and are left out), the worst
        R-hat, the lowest bulk and tail ESS, and the largest standard error of a mean, in standard deviations.
    worst : DataFrame
        The worst components, by variable, time and feature; of each feature of a path only the worst time.
    acceptance : DataFrame
        Means of the statistics that the steps record, by chain.
    components : dict of str to Dataset
        `rhat`, `ess_bulk`, `ess_tail` and `mcse` of every component of each variable.
    converged : bool
    verdict : str
        Why, in one sentence.
    advice : tuple of str
        What to do, and other warnings.
    choices : ChoiceCheck, optional
        Whether the choices are as the model predicts, if the trace has choice probabilities.
    unchanging : AgainstUnchanging, optional
        Whether the model predicts better than weights that never change, if the trace has choice probabilities.
    """

    blocks: pd.DataFrame
    worst: pd.DataFrame
    acceptance: pd.DataFrame
    components: dict[str, xr.Dataset]
    converged: bool
    verdict: str
    advice: tuple[str, ...]
    choices: ChoiceCheck | None = None
    unchanging: AgainstUnchanging | None = None

    @property
    def heading(self) -> str:
        """The verdict in two words."""
        if self.verdict in NO_POSTERIOR.values():
            return "no chains"
        return "converged" if self.converged else "NOT converged"

    def __str__(self) -> str:
        parts = []
        if len(self.blocks):
            parts += [f"by variable\n{_as_text(self.blocks)}"]
        if len(self.worst):
            parts += [f"the worst components\n{_as_text(self.worst)}"]
        if len(self.acceptance):
            parts += [f"steps, by chain\n{_as_text(self.acceptance)}"]
        if self.choices is not None:
            parts += [f"choices: {self.choices}"]
        if self.unchanging is not None:
            parts += [f"{'WARNING' if self.unchanging.is_worse else 'against no change'}: {self.unchanging}"]
        verdict = f"{self.heading}: {self.verdict}"
        return "\n\n".join([*parts, "\n".join([verdict, *(f"- {line}" for line in self.advice)])])


def diagnose(trace: InferenceData) -> Diagnosis:
    """Diagnose a trace: R-hat, ESS and standard errors by variable, the worst components, acceptance, and a verdict.

    Chains have converged if every component that moves has R-hat below 1.01 and bulk and tail ESS of 400 or more
    (Vehtari et al., 2021). A single chain, an approximation or a point estimate is never reported as converged.

    Parameters
    ----------
    trace : InferenceData

    Returns
    -------
    Diagnosis

    Raises
    ------
    InputError
        If the trace has no posterior draws.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.share(icb_pymc.open_trace("nb-icb-stepping"), every=10)
    >>> diagnosis = icb_pymc.diagnose(trace)
    >>> diagnosis.converged
    True
    >>> diagnosis.blocks.index.tolist()
    ['belief']
    """
    posterior, stats = group(trace, "posterior"), group(trace, "sample_stats")
    draws = {str(name): path for name, path in posterior.data_vars.items() if {"chain", "draw"} <= set(path.dims)}
    if not draws:
        raise InputError("this trace has no draws: its posterior has no dimensions chain and draw.")
    checks = (check_choices(trace) if has_probabilities(trace) else None, against_unchanging(trace))
    acceptance = acceptance_by_chain(stats)
    approximation = str(trace.attrs.get("approximation", "none"))
    is_estimate = trace.attrs.get("method") == "estimate"
    if is_estimate or approximation in NO_POSTERIOR:
        verdict = NO_POSTERIOR["estimate" if is_estimate else approximation]
        return Diagnosis(pd.DataFrame(), pd.DataFrame(), acceptance, {}, False, verdict, (), *checks)
    if posterior.sizes["draw"] < LEAST_DRAWS:
        verdict = f"{posterior.sizes['draw']} draws per chain are too few for any diagnosis; draw 1000."
        return Diagnosis(pd.DataFrame(), pd.DataFrame(), acceptance, {}, False, verdict, (), *checks)
    components, blocks = {}, {}
    for name, path in draws.items():
        constant = is_constant(path)
        components[name] = convergence(path).where(~constant)
        blocks[name] = _block(components[name], constant)
    if posterior.sizes["chain"] == 1:
        # Halves of one chain may agree where another chain would not.
        for block in blocks.values():
            block["R-hat"] = np.nan
    table = pd.DataFrame(blocks.values(), index=pd.Index(blocks, name="variable"))
    worst = _worst_components(draws, components)
    verdict, converged = judge(table, worst, trace)
    advice = advise(table, acceptance, trace, converged)
    if extrapolated := extrapolation(trace):
        advice.append(extrapolated)
    return Diagnosis(table, worst, acceptance, components, converged, verdict, tuple(advice), *checks)


def acceptance_by_chain(stats: xr.Dataset) -> pd.DataFrame:
    """Means over draws of the statistics that the steps record, a column for each chain; divergences are counted."""
    rows: dict[str, np.ndarray] = {}
    for name in [*acceptance_rates(stats), "hmc_steps", "n_steps", "step_size"]:
        # Steps that a chain did not make record only NaN.
        if name in stats and stats[name].dims == ("chain", "draw") and np.isfinite(stats[name]).any():
            rows[name] = stats[name].mean("draw").values.astype(float)
    if "hmc_energy_error" in stats:
        rows["|hmc_energy_error|"] = abs(stats["hmc_energy_error"]).mean("draw").values
    if "diverging" in stats:
        rows["divergences"] = stats["diverging"].sum("draw").values.astype(float)
    if not rows:
        return pd.DataFrame()
    chains = pd.Index([f"chain {chain}" for chain in stats["chain"].values])
    return pd.DataFrame(rows.values(), index=pd.Index(rows, name="statistic"), columns=chains)


def acceptance_rates(stats: xr.Dataset) -> list[str]:
    """Names of the statistics that are acceptance rates."""
    return [str(name) for name in stats.data_vars if "accept" in str(name)]


def _block(components: xr.Dataset, constant: xr.DataArray) -> dict[str, Any]:
    return {
        "components": constant.size,
        "constant": int(constant.sum()),
        "R-hat": _extreme(components["rhat"], np.nanmax),
        "bulk ESS": _extreme(components["ess_bulk"], np.nanmin),
        "tail ESS": _extreme(components["ess_tail"], np.nanmin),
        "MCSE/sd": _extreme(components["mcse"], np.nanmax),
    }


def _extreme(values: xr.DataArray, of: Any) -> float:
    return float(of(values.values)) if values.notnull().any() else np.nan


def _worst_components(draws: dict[str, xr.DataArray], components: dict[str, xr.Dataset]) -> pd.DataFrame:
    """The components with the highest R-hat or the lowest ESS, of all variables; of a path over time the worst time."""
    rows = []
    for name, diagnostics in components.items():
        shape = diagnostics["rhat"].shape
        by = {quantity: diagnostics[quantity].values.ravel() for quantity in QUANTITIES}
        moving = np.flatnonzero(~np.isnan(by["ess_bulk"]))
        # How far R-hat and ESS are from their limits, whichever is further.
        need = np.maximum((by["rhat"] - 1) / (RHAT_LIMIT - 1), ESS_LIMIT / np.fmin(by["ess_bulk"], by["ess_tail"]))
        need = np.where(np.isnan(need), ESS_LIMIT / by["ess_bulk"], need)
        paths: set[Any] = set()
        for i in moving[np.argsort(-need[moving], kind="stable")]:
            at = dict(zip(diagnostics["rhat"].dims, np.unravel_index(i, shape), strict=True))
            # Neighbours in time are as bad: they would crowd out everything else.
            outside_time = tuple(index for dim, index in at.items() if dim != "time")
            if outside_time in paths:
                continue
            paths.add(outside_time)
            if len(paths) > WORST_SHOWN:
                break
            path = draws[name].isel({dim: int(index) for dim, index in at.items()})
            rows.append(
                {
                    "variable": name,
                    "at": _describe_component(draws[name], at),
                    "R-hat": by["rhat"][i],
                    "bulk ESS": by["ess_bulk"][i],
                    "tail ESS": by["ess_tail"][i],
                    "mean": float(path.mean()),
                    "sd": float(path.std(ddof=1)),
                    "need": need[i],
                    "position": tuple(int(index) for index in at.values()),
                }
            )
    if not rows:
        return pd.DataFrame()
    table = pd.DataFrame(rows).sort_values("need", ascending=False, kind="stable").head(WORST_SHOWN)
    return table.drop(columns="need").set_index(["variable", "at"])


def _describe_component(path: xr.DataArray, at: dict[Any, Any]) -> str:
    """A component in words, e.g. 'time 2002-02-27, feature inr'."""
    words = []
    for dim, index in at.items():
        label = path[dim].values[index] if dim in path.coords else index
        words.append(f"{dim} {format_time(label) if np.asarray(label).dtype.kind == 'M' else label}")
    return ", ".join(words)


def _as_text(table: pd.DataFrame) -> str:
    shown = table.drop(columns="position", errors="ignore").copy()
    for name in shown.columns:
        if "ESS" in str(name):
            shown[name] = [f"{value:.0f}" if np.isfinite(value) else "-" for value in shown[name]]
        elif shown[name].dtype.kind == "f":
            digits = 3 if name in ("R-hat", "MCSE/sd") else 4
            shown[name] = [f"{value:.{digits}f}" if np.isfinite(value) else "-" for value in shown[name]]
    if isinstance(shown.index, pd.MultiIndex):
        shown = shown.reset_index()
        return shown.to_string(index=False)
    return shown.rename_axis(None).to_string()
