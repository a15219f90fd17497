"""Paths of features over time with credible bands, in one panel or in one each: what weights and importance share."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from icb_pymc.plots.common import (
    AnyFigure,
    caption,
    draw_band,
    draw_events,
    draw_line,
    draw_sessions,
    events_within,
    feature_style,
    known_features,
    label_of,
    note_on_bands,
    panel_grid,
)
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import boundary_times, central_band, checked_ci_prob

SHARED_PANEL = 4


def draw_paths(
    trace: InferenceData,
    paths: xr.DataArray,
    truth: xr.DataArray | None,
    features: Sequence[str] | None,
    events: Mapping[Any, str] | None,
    ci_prob: float | None,
    figure: AnyFigure | None,
    bands: xr.DataArray | None = None,
) -> tuple[AnyFigure, np.ndarray, int]:
    """Draw paths (chain, draw, time, feature); returns the figure, the grid of axes and how many of them are used.

    Bands (quantile, time, feature) are computed from the paths unless they are known. Up to four features share one
    panel; more get a panel each, since overlapping bands cannot be read. Sessions begin at faint lines, and lines are
    interrupted where there is a gap in time.
    """
    shown = known_features(paths, features)
    low, median, high = central_band(paths, checked_ci_prob(ci_prob)) if bands is None else bands
    time = paths["time"].values
    event_times = events_within(time, events)
    boundaries = boundary_times(trace)
    panels = [shown] if len(shown) <= SHARED_PANEL else [[name] for name in shown]
    # The width that leaves the fewest panels empty.
    columns = min(len(panels), min((4, 3), key=lambda width: -len(panels) % width))
    rows = -(-len(panels) // columns)
    size = (8, 4.5) if len(panels) == 1 else (2.6 * columns, 2.3 * rows + 0.4)
    figure, grid = panel_grid(figure, rows, columns, size, sharex=True, sharey=True)
    for ax, names in zip(grid.flat, panels, strict=False):
        for name in names:
            colour, dashes = feature_style(paths, name)
            draw_band(ax, time, low.sel(feature=name), high.sel(feature=name), color=colour, alpha=0.2)
            # A line that is alone in its panel needs no dashes.
            style = dashes if len(names) > 1 else "-"
            draw_line(ax, time, median.sel(feature=name), color=colour, linestyle=style, label=label_of(name))
            if truth is not None:
                line = colour if len(names) > 1 else "black"
                draw_line(ax, time, truth.sel(feature=name), color=line, linestyle=":", linewidth=1.4)
        draw_sessions(ax, boundaries)
        draw_events(ax, event_times, labelled=ax is grid.flat[0])
        ax.spines[["top", "right"]].set_visible(False)
        if len(panels) > 1:
            ax.set_title(label_of(names[0]), fontsize=9)
            ax.tick_params(labelsize=8)
    if len(panels) == 1:
        grid.flat[0].legend(loc="lower center", bbox_to_anchor=(0.5, 1.01), ncols=4, frameon=False, fontsize=9)
    return figure, grid, len(panels)


def paths_caption(trace: InferenceData, ci_prob: float | None, truth: xr.DataArray | None) -> str:
    """What lines and bands show, for the foot of the figure."""
    return caption(trace, note_on_bands(checked_ci_prob(ci_prob), truth, boundary_times(trace)))
