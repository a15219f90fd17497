"""When preferences changed: the probability of a change over time, and the weights between changes."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from icb_pymc.assess.dates_of_change import Changes
from icb_pymc.assess.wording import format_probability
from icb_pymc.data.times import format_time
from icb_pymc.plots.common import COLOURS, feature_style, label_of

# Bands on bands of more features than this cannot be read.
BANDS = 4
# A change is looked for in a window of this share of the log around each decision.
WINDOW = 0.02


def changes(result: Changes, *, figure: Any = None) -> Any:
    """Draw when preferences changed, and the weights over time.

    Above, the probability of a change in a window of 2% of the log around each decision; a date of change is a line
    with its credible interval shaded, and true dates of simulated decisions are dotted. Below, the median weights over
    all divisions, with credible bands if there are at most four features, since more cannot be read. A weight is per
    spread of its feature, so that features can be compared.

    Parameters
    ----------
    result : Changes
        From `icb_pymc.changes`.
    figure : Figure or SubFigure, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Examples
    --------
    >>> import numpy as np
    >>> import icb_pymc
    >>> rng = np.random.default_rng(0)
    >>> context = rng.normal(size=(100, 2, 1))
    >>> log_odds = np.where(np.arange(100) < 60, 3.0, -3.0) * (context[:, 1, 0] - context[:, 0, 0])
    >>> decisions = icb_pymc.from_arrays(context, (rng.random(100) < 1 / (1 + np.exp(-log_odds))).astype(int))
    >>> figure = icb_pymc.plots.changes(icb_pymc.changes(decisions, random_seed=0))
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['P(change)', 'log-odds per spread']
    """
    if figure is None:
        figure = plt.figure(figsize=(8, 5.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.6])
    _draw_probability(above, result)
    _draw_weights(below, result)
    for ax in (above, below):
        for date in result.dates:
            ax.axvspan(*date.interval, color="0.5", alpha=0.25, linewidth=0)
            ax.axvline(date.date, color="0.3", linewidth=0.8)
        for moment in () if result.true_dates is None else result.true_dates:
            ax.axvline(moment, color="black", linestyle=":", linewidth=1.4)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
    time = result.probability["time"].values
    below.set_xlim(time[0], time[-1])
    if time.dtype.kind == "M":
        below.tick_params(axis="x", rotation=30)
    notes = [f"lines and grey: dates and their {result.ci_prob:.0%} credible intervals"] if result.dates else []
    notes += ["dotted: true dates"] if result.true_dates is not None and len(result.true_dates) else []
    notes += ["weights: median" + (f" and {result.ci_prob:.0%} credible band" if _with_bands(result) else "")]
    figure.supxlabel(f"{'date' if time.dtype.kind == 'M' else 'decision'}\n{'; '.join(notes)}", fontsize=8)
    return figure


def _draw_probability(ax: Axes, result: Changes) -> None:
    probability = result.probability.values
    half = max(1, round(WINDOW * len(probability) / 2))
    # Two changes in one window are rare enough to add their probabilities.
    total = np.append(0.0, np.cumsum(probability))
    at = np.arange(len(probability))
    near = np.minimum(1.0, total[np.minimum(at + half + 1, len(at))] - total[np.maximum(at - half, 0)])
    ax.fill_between(result.probability["time"].values, near, color=COLOURS[0], alpha=0.5, linewidth=0)
    ax.set_ylim(0, 1.02)
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set_ylabel("P(change)", fontsize=9)
    if result.dates:
        dates = ", ".join(format_time(date.date) for date in result.dates)
        number = format_probability(float(result.number[len(result.dates)]))
        title = f"{len(result.dates)} change{'s' * (len(result.dates) > 1)} (probability {number}): {dates}"
    else:
        title = f"no change reported; probability of any: {format_probability(result.any_change)}"
    ax.set_title(f"{title}\nprobability of a change within {half} decisions of each", fontsize=9)


def _draw_weights(ax: Axes, result: Changes) -> None:
    tail = (1 - result.ci_prob) / 2
    # Weights are constant within blocks, so quantiles are needed for each block only.
    low, median, high = (result.weights * result.weights["spread"]).quantile([tail, 0.5, 1 - tail], "draw")
    time = result.probability["time"].values
    edges = np.append(time[result.boundaries[:-1]], time[-1])
    for name in [str(feature) for feature in result.weights["feature"].values]:
        colour, dashes = feature_style(result.weights, name)
        lower, middle, upper = (np.append(q.sel(feature=name), q.sel(feature=name)[-1]) for q in (low, median, high))
        if _with_bands(result):
            ax.fill_between(edges, lower, upper, step="post", color=colour, alpha=0.15, linewidth=0)
        ax.step(edges, middle, where="post", color=colour, linestyle=dashes, linewidth=1.4, label=label_of(name))
    ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    ax.set_ylabel("log-odds per spread", fontsize=9)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)


def _with_bands(result: Changes) -> bool:
    return result.weights.sizes["feature"] <= BANDS
