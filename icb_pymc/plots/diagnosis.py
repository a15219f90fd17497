"""Whether to believe a trace: ranks, effective sample sizes over time, sampler statistics, and choices."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.dates import ConciseDateFormatter
from scipy.stats import rankdata

from icb_pymc.assess.convergence import ESS_LIMIT
from icb_pymc.assess.diagnosis import Diagnosis, acceptance_rates, diagnose
from icb_pymc.assess.predictive_checks import ChoiceCheck, check_choices
from icb_pymc.errors import InputError
from icb_pymc.plots.common import COLOURS, DASHES, AnyFigure, escape_math, label_of, model_of, panel_grid, tidy
from icb_pymc.results.inference_data import InferenceData, group

RANKED = 3
RANK_BINS = 15


def diagnosis_picture(
    trace: InferenceData, diagnosis: Diagnosis | None = None, *, figure: AnyFigure | None = None
) -> AnyFigure:
    """Draw rank plots of the worst components, ESS over time, sampler statistics, and the calibration of choices.

    Only what the trace contains is drawn.

    Parameters
    ----------
    trace : InferenceData
    diagnosis : Diagnosis, optional
        Of this trace, if it has already been made.
    figure : Figure or SubFigure, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Raises
    ------
    InputError
        If the trace has nothing to diagnose.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.share(icb_pymc.open_trace("nb-icb-stepping"), draws=100, every=10)
    >>> figure = icb_pymc.plots.diagnosis_picture(trace)
    >>> figure.get_suptitle()
    'nb_icb: NOT converged'
    """
    if diagnosis is None:
        diagnosis = diagnose(trace)
    over_time = {
        name: values for name, values in diagnosis.components.items() if values["ess_bulk"].dims[:1] == ("time",)
    }
    stats = group(trace, "sample_stats")
    has_stats = "hmc_energy_error" in stats or "energy" in stats or len(acceptance_rates(stats)) > 0
    choices = diagnosis.choices
    panels = min(len(diagnosis.worst), RANKED) + min(len(over_time), 1) + has_stats + 2 * (choices is not None)
    if not panels:
        raise InputError(f"there is nothing to draw: {diagnosis.verdict}")
    columns = min(panels, 4 if panels > 6 else 3)
    rows = -(-panels // columns)
    figure, grid = panel_grid(figure, rows, columns, (4.1 * columns, 3.1 * rows))
    free = iter(grid.flat)
    for _, row in diagnosis.worst.head(RANKED).reset_index().iterrows():
        variable = row["variable"]
        path = group(trace, "posterior")[variable].transpose("chain", "draw", ...)
        values = path.values[(slice(None), slice(None), *row["position"])]
        component = escape_math(f"{variable} {row['at']}")
        draw_ranks(next(free), values, f"{component}\nR-hat {row['R-hat']:.3f}, ESS {row['bulk ESS']:.0f}")
    if over_time:
        name = "belief" if "belief" in over_time else next(iter(over_time))
        draw_ess_over_time(next(free), over_time[name], name)
    if has_stats:
        _draw_sampler_statistics(next(free), stats)
    if choices is not None:
        draw_calibration(next(free), choices)
        draw_accuracy(next(free), choices)
    for ax in free:
        ax.set_visible(False)
    for ax in grid.flat:
        tidy(ax)
        ax.title.set_fontsize(9)
    figure.suptitle(f"{model_of(trace)}: {diagnosis.heading}", fontsize=11)
    return figure


def choices_picture(trace: InferenceData, *, figure: AnyFigure | None = None) -> AnyFigure:
    """Draw the calibration of the choice probabilities, and accuracy over time compared with chance.

    Parameters
    ----------
    trace : InferenceData
        Of `icb_pymc.fit`, with the group `choice_probabilities`.
    figure : Figure or SubFigure, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Raises
    ------
    InputError
        If the trace has no choice probabilities, or no decision had more than one candidate.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> figure = icb_pymc.plots.choices_picture(trace)
    >>> len(figure.axes)
    2
    """
    choices = check_choices(trace)
    figure, grid = panel_grid(figure, 1, 2, (9, 3.6), width_ratios=[1, 1.5])
    left, right = grid[0]
    draw_calibration(left, choices)
    draw_accuracy(right, choices)
    for ax in (left, right):
        tidy(ax)
        ax.title.set_fontsize(9)
    figure.supxlabel(f"{model_of(trace)}: probabilities of each choice given all others", fontsize=8)
    return figure


def draw_ranks(ax: Axes, draws: np.ndarray, title: str) -> None:
    """Distribution of the ranks of draws (chain, draw), in the first (solid) and second half (dashed) of each chain.

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
    # Independent draws would stay within this band.
    ax.axhspan(1 - 2 / np.sqrt(even), 1 + 2 / np.sqrt(even), color="0.5", alpha=0.15, linewidth=0)
    ax.set_ylim(bottom=0)
    ax.set_title(title)
    ax.set_xlabel("rank among all draws; dashed: second half", fontsize=8)
    ax.set_ylabel("draws / even share", fontsize=8)
    if len(ranks) <= 6:
        ax.legend(fontsize=6, frameon=False, ncols=2)


def draw_ess_over_time(ax: Axes, components: xr.Dataset, name: str) -> None:
    """The lesser of bulk and tail ESS of a path, a line for each feature; the limit is dashed."""
    bulk, tail = components["ess_bulk"], components["ess_tail"]
    least = bulk.copy(data=np.fmin(bulk.values, tail.values))
    lines = least.values.reshape(least.sizes["time"], -1)
    time = least["time"].values if "time" in least.coords else np.arange(len(lines))
    many = lines.shape[1] > 2 * len(COLOURS)
    has_names = least.dims[1:] == ("feature",) and not many
    labels = [label_of(name) for name in least["feature"].values] if has_names else [None] * lines.shape[1]
    for i, (line, label) in enumerate(zip(lines.T, labels, strict=True)):
        ax.plot(time, line, linewidth=0.9, label=label, **_style(i))
    ax.axhline(ESS_LIMIT, color="black", linestyle="--", linewidth=0.8)
    if np.isfinite(lines).any():
        ax.set_yscale("log")
        # Room below for the legend.
        ax.set_ylim(bottom=min(ESS_LIMIT, np.nanmin(lines)) / 5)
    ax.set_title(f"ESS of {escape_math(name)} (the lesser of bulk and tail)\ndashed: {ESS_LIMIT}")
    ax.set_ylabel("ESS", fontsize=8)
    if has_names and len(labels) <= 8:
        ax.legend(fontsize=6, frameon=False, ncols=3, loc="lower center")
    _label_time(ax, time)


def draw_calibration(ax: Axes, choices: ChoiceCheck) -> None:
    """Observed shares against predicted probabilities, with the band of a correct model."""
    table = choices.calibration
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
    ax.fill_between(table["predicted"], table["low"], table["high"], color=COLOURS[0], alpha=0.2, linewidth=0)
    ax.plot(table["predicted"], table["observed"], color=COLOURS[0], marker="o", markersize=4, linewidth=1)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.set_xlabel("predicted probability", fontsize=8)
    ax.set_ylabel("share chosen", fontsize=8)
    ax.set_title(f"calibration: error {choices.calibration_error:.3f}\nband: nine of ten logs, if the model is correct")


def draw_accuracy(ax: Axes, choices: ChoiceCheck) -> None:
    """Share of choices that were the most probable, in windows of time, against chance."""
    table = choices.over_time
    time = table["start"].to_numpy()
    for name, colour, style in (
        ("accuracy", COLOURS[0], "-"),
        ("expected_accuracy", COLOURS[1], "--"),
        ("chance", "0.4", ":"),
    ):
        marker = "o" if style == "-" else ""
        ax.plot(time, table[name], color=colour, linestyle=style, label=label_of(name), marker=marker, ms=3)
    ax.set_ylim(0, 1.02)
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set_title(f"choices that were the most probable: {choices.accuracy:.0%}\nin windows of {table['count'].max()}")
    ax.legend(fontsize=7, frameon=False, loc="lower right", ncols=3)
    _label_time(ax, time)


def _draw_sampler_statistics(ax: Axes, stats: xr.Dataset) -> None:
    """Energy errors, energies or acceptance rates by chain, whichever the sampler records."""
    rates = acceptance_rates(stats)
    if "hmc_energy_error" in stats:
        name, title = "hmc_energy_error", "energy error of each trajectory"
    elif "energy" in stats:
        name, title = "energy", "energy (NUTS)"
    else:
        name, title = rates[0], f"{rates[0]} of each draw"
    values = stats[name].transpose("chain", "draw").values.astype(float)
    finite = values[np.isfinite(values)]
    low, high = (float(np.quantile(finite, tail)) if len(finite) else tail for tail in (0.002, 0.998))
    spare = 0.5 if low == high else 0.0
    edges = np.linspace(low - spare, high + spare, 40).tolist()
    for chain, of_chain in enumerate(values):
        ax.hist(of_chain, edges, histtype="step", color=COLOURS[chain % len(COLOURS)], linewidth=1)
    ax.set_yticks([])
    known = [rate for rate in rates if np.isfinite(stats[rate]).any()]
    means = ", ".join(f"{rate} {float(stats[rate].mean()):.2f}" for rate in known[:2])
    ax.set_title(escape_math(f"{title}\n{means}"))
    ax.set_xlabel("a line for each chain", fontsize=8)


def _style(i: int) -> dict[str, Any]:
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i // len(COLOURS) % len(DASHES)]}


def _label_time(ax: Axes, time: np.ndarray) -> None:
    if time.dtype.kind == "M":
        ax.xaxis.set_major_formatter(ConciseDateFormatter(ax.xaxis.get_major_locator()))
    ax.set_xlabel("date" if time.dtype.kind == "M" else "decision", fontsize=8)
