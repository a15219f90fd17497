"""What the figures share: colours, styles of features, events, labels of axes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icb_pymc.assess.metrics import relative_importance
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import at_kept_times

# Okabe and Ito (2008): colours that people with any common colour vision tell apart; their yellow, too faint for a line
# on white, is grey here.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#999999")
DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)))


def chosen_features(importance: xr.DataArray, features: Sequence[str] | None) -> list[str]:
    known = [str(name) for name in importance["feature"].values]
    for name in features or ():
        if name not in known:
            raise InputError(f"there is no feature '{name}' in the trace; there are {', '.join(known)}.")
    return list(features or known)


def feature_style(importance: xr.DataArray, name: str) -> tuple[str, Any]:
    """A feature keeps its colour whichever others are drawn; beyond eight, dashes tell them apart."""
    position = list(importance["feature"].values).index(name)
    return COLOURS[position % len(COLOURS)], DASHES[position // len(COLOURS) % len(DASHES)]


def true_importance(trace: InferenceData, importance: xr.DataArray) -> xr.DataArray | None:
    data = group(trace, "constant_data")
    # An agent that weighs other features than those recorded has no truth on the same axes.
    if "true_belief" not in data or "reward_context" in data:
        return None
    return at_kept_times(relative_importance(data["true_belief"]), importance)


def draw_events(ax: Axes, moments: Mapping[Any, str], labelled: bool) -> None:
    for at, label in moments.items():
        ax.axvline(at, color="0.4", linewidth=0.8, zorder=4)
        if labelled:
            above = ax.get_xaxis_transform()
            words: dict[str, Any] = {"rotation": 90, "ha": "right", "va": "top", "fontsize": 8, "color": "0.25"}
            # Lines that pass below the words must not make them illegible.
            behind = {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.5}
            ax.text(at, 0.98, f"{label} ", transform=above, bbox=behind, **words)


def label_importance(figure: Figure, grid: np.ndarray, panels: int, time: np.ndarray, note: str) -> None:
    """Axes of the first `panels` of a grid, which show relative importance over time; the others are hidden."""
    for ax in list(grid.flat)[panels:]:
        ax.set_visible(False)
    first = grid.flat[0]
    first.set_xlim(time[0], time[-1])
    first.set_ylim(bottom=0)
    first.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    if time.dtype.kind == "M":
        figure.autofmt_xdate(rotation=30)
    figure.supylabel("relative importance", fontsize=10)
    axis = "date" if time.dtype.kind == "M" else "decision"
    figure.supxlabel(f"{axis}\n{note}", fontsize=8)


def words(name: str) -> str:
    return str(name).replace("_", " ")


def source(trace: InferenceData, note: str) -> str:
    synthetic = group(trace, "constant_data").attrs.get("synthetic")
    made_up = "; synthetic patients, none of them real" if synthetic else ""
    return f"{trace.attrs.get('model', 'model')}: {note}{made_up}"
