"""Pictures that tell whether to believe a trace: ranks, effective draws over time, steps, and choices."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.dates import ConciseDateFormatter
from matplotlib.figure import Figure
from scipy.stats import rankdata

from icb_pymc.assess.convergence import ESS_LIMIT
from icb_pymc.assess.diagnosis import Diagnosis, diagnose
from icb_pymc.assess.predictive_checks import ChoiceCheck, check_choices
from icb_pymc.errors import InputError
from icb_pymc.plots.common import COLOURS, DASHES
from icb_pymc.results.inference_data import InferenceData, group

RANKED = 3
RANK_BINS = 15


def diagnosis_picture(trace: InferenceData, diagnosis: Diagnosis | None = None) -> Figure:
    """Rank plots of the worst components, ESS over time, how the steps did, and the calibration of choices.

    Only what the trace can tell is drawn.

    Parameters
    ----------
    trace : InferenceData
    diagnosis : Diagnosis, optional
        Of this trace, where it is already made.
    """
    found = diagnose(trace) if diagnosis is None else diagnosis
    over_time = {name: values for name, values in found.components.items() if values["ess_bulk"].dims[:1] == ("time",)}
    stats = group(trace, "sample_stats")
    is_told = "hmc_energy_error" in stats or "energy" in stats or len(found.acceptance)
    panels = min(len(found.worst), RANKED) + min(len(over_time), 1) + bool(is_told) + 2 * (found.choices is not None)
    if not panels:
        raise InputError(f"there is nothing to draw: {found.verdict}")
    columns = min(panels, 4 if panels > 6 else 3)
    rows = -(-panels // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(4.1 * columns, 3.1 * rows), squeeze=False, layout="constrained")
    places = iter(grid.flat)
    for _, row in found.worst.head(RANKED).reset_index().iterrows():
        variable = row["variable"]
        path = group(trace, "posterior")[variable].transpose("chain", "draw", ...)
        values = path.values[(slice(None), slice(None), *row["position"])]
        draw_ranks(next(places), values, f"{variable} {row['at']}\nR-hat {row['R-hat']:.3f}, ESS {row['bulk ESS']:.0f}")
    if over_time:
        name = "belief" if "belief" in over_time else next(iter(over_time))
        draw_ess_over_time(next(places), over_time[name], name)
    if is_told:
        _draw_steps(next(places), stats)
    if found.choices is not None:
        draw_calibration(next(places), found.choices)
        draw_accuracy(next(places), found.choices)
    for ax in places:
        ax.set_visible(False)
    for ax in grid.flat:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
        ax.title.set_fontsize(9)
    said = "converged" if found.converged else "NOT converged"
    figure.suptitle(f"{trace.attrs.get('model', 'model')}: {said}", fontsize=11)
    return figure


def choices_picture(trace: InferenceData) -> Figure:
    """Calibration of the choice probabilities, and accuracy over time against chance; see `check_choices`."""
    found = check_choices(trace)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", width_ratios=[1, 1.5])
    draw_calibration(left, found)
    draw_accuracy(right, found)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
        ax.title.set_fontsize(9)
    note = "probabilities of each choice given all others"
    figure.supxlabel(f"{trace.attrs.get('model', 'model')}: {note}", fontsize=8)
    return figure


def draw_ranks(ax: Axes, draws: np.ndarray, title: str) -> None:
    """How the ranks of draws (chain, draw) spread, in the first (solid) and second half (dashed) of each chain.

    Lines are flat where all agree.
    """
    ranks = rankdata(draws).reshape(draws.shape)
    half = draws.shape[1] // 2
    bins = min(RANK_BINS, max(4, half // 10))
    edges = np.linspace(0.5, draws.size + 0.5, bins + 1)
    even = half / bins
    for chain, of_chain in enumerate(ranks):
        colour = COLOURS[chain % len(COLOURS)]
        for part, style, label in ((of_chain[:half], "-", f"chain {chain}"), (of_chain[-half:], "--", None)):
            share = np.histogram(part, edges)[0] / even
            ax.stairs(share, edges / draws.size, baseline=None, color=colour, linestyle=style, label=label)
    # What independent draws would stay within.
    ax.axhspan(1 - 2 / np.sqrt(even), 1 + 2 / np.sqrt(even), color="0.5", alpha=0.15, linewidth=0)
    ax.set_ylim(bottom=0)
    ax.set_title(title)
    ax.set_xlabel("rank among all draws; dashed: second half", fontsize=8)
    ax.set_ylabel("draws / even share", fontsize=8)
    if len(ranks) <= 6:
        ax.legend(fontsize=6, frameon=False, ncols=2)


def draw_ess_over_time(ax: Axes, found: xr.Dataset, name: str) -> None:
    """Bulk and tail ESS of a path, the lesser of both, a line for each feature; the limit dashed."""
    least = found["ess_bulk"].copy(data=np.fmin(found["ess_bulk"].values, found["ess_tail"].values))
    lines = least.values.reshape(least.sizes["time"], -1)
    time = least["time"].values if "time" in least.coords else np.arange(len(lines))
    many = lines.shape[1] > 2 * len(COLOURS)
    named = least["feature"].values if least.dims[1:] == ("feature",) and not many else [None] * lines.shape[1]
    for i, (line, label) in enumerate(zip(lines.T, named, strict=True)):
        ax.plot(time, line, linewidth=0.9, label=label, **_style(i))
    ax.axhline(ESS_LIMIT, color="black", linestyle="--", linewidth=0.8)
    if np.isfinite(lines).any():
        ax.set_yscale("log")
        # Room below for the names.
        ax.set_ylim(bottom=min(ESS_LIMIT, np.nanmin(lines)) / 5)
    ax.set_title(f"effective draws of {name} (the lesser of bulk and tail)\ndashed: {ESS_LIMIT}")
    ax.set_ylabel("ESS", fontsize=8)
    if named[0] is not None and len(named) <= 8:
        ax.legend(fontsize=6, frameon=False, ncols=3, loc="lower center")
    _label_time(ax, time)


def draw_calibration(ax: Axes, found: ChoiceCheck) -> None:
    """Observed shares against predicted probabilities, with the band of a model that is right."""
    table = found.calibration
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
    ax.fill_between(table["predicted"], table["low"], table["high"], color=COLOURS[0], alpha=0.2, linewidth=0)
    ax.plot(table["predicted"], table["observed"], color=COLOURS[0], marker="o", markersize=4, linewidth=1)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.set_xlabel("predicted probability", fontsize=8)
    ax.set_ylabel("share chosen", fontsize=8)
    ax.set_title(f"calibration: error {found.calibration_error:.3f}\nband: nine of ten logs, if the model were right")


def draw_accuracy(ax: Axes, found: ChoiceCheck) -> None:
    """Share of choices that were the most probable, in windows of time, against chance."""
    table = found.over_time
    time = table["start"].to_numpy()
    for name, colour, style in (
        ("accuracy", COLOURS[0], "-"),
        ("expected_accuracy", COLOURS[1], "--"),
        ("chance", "0.4", ":"),
    ):
        words = name.replace("_", " ")
        ax.plot(time, table[name], color=colour, linestyle=style, label=words, marker="o" if style == "-" else "", ms=3)
    ax.set_ylim(0, 1.02)
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set_title(f"choices that were the most probable: {found.accuracy:.0%}\nin windows of {table['count'].max()}")
    ax.legend(fontsize=7, frameon=False, loc="lower right", ncols=3)
    _label_time(ax, time)


def _draw_steps(ax: Axes, stats: xr.Dataset) -> None:
    """Energy errors, energies or acceptance, by chain, whichever the steps tell."""
    if "hmc_energy_error" in stats:
        name, words = "hmc_energy_error", "error of energy of each path"
    elif "energy" in stats:
        name, words = "energy", "energy (NUTS)"
    else:
        told = [str(name) for name in stats.data_vars if "accept" in str(name)]
        name, words = told[0], f"{told[0]} of each draw"
    values = stats[name].transpose("chain", "draw").values.astype(float)
    finite = values[np.isfinite(values)]
    low, high = (float(np.quantile(finite, tail)) if len(finite) else tail for tail in (0.002, 0.998))
    spare = 0.5 if low == high else 0.0
    edges = np.linspace(low - spare, high + spare, 40).tolist()
    for chain, of_chain in enumerate(values):
        ax.hist(of_chain, edges, histtype="step", color=COLOURS[chain % len(COLOURS)], linewidth=1)
    ax.set_yticks([])
    accepted = [str(name) for name in stats.data_vars if "accept" in str(name) and np.isfinite(stats[name]).any()]
    rates = [f"{name} {float(stats[name].mean()):.2f}" for name in accepted[:2]]
    ax.set_title("\n".join([words, ", ".join(rates)]))
    ax.set_xlabel("a line for each chain", fontsize=8)


def _style(i: int) -> dict[str, Any]:
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i // len(COLOURS) % len(DASHES)]}


def _label_time(ax: Axes, time: np.ndarray) -> None:
    if time.dtype.kind == "M":
        ax.xaxis.set_major_formatter(ConciseDateFormatter(ax.xaxis.get_major_locator()))
    ax.set_xlabel("date" if time.dtype.kind == "M" else "decision", fontsize=8)
