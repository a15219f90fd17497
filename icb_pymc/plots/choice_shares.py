"""Performance and bias over time, and the psychometric curve, against what the model predicts."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from icb_pymc.assess.choice_shares import BINS, bias, performance, psychometric
from icb_pymc.plots.common import (
    COLOURS,
    AnyFigure,
    caption,
    draw_band,
    draw_line,
    draw_sessions,
    label_of,
    label_times,
    panel_grid,
    tidy,
)
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import boundary_times, checked_ci_prob

SIZE = (8, 3.4)


def performance_over_time(
    trace: InferenceData, *, window: int | None = None, ci_prob: float | None = None, figure: AnyFigure | None = None
) -> AnyFigure:
    """Draw the share of right answers over time, and the band in which it lies if the model is right.

    An answer is right if it is that of the log (`answer`, the column ``--answer`` of a table). In logs without answers
    a rewarded choice is right; there is then no band. Lines are interrupted in gaps, see `weights_over_time`.

    Parameters
    ----------
    trace : InferenceData
        With choice probabilities.
    window : int, optional
        Choices in a running window; by default a dot for each session, or each twentieth of a log without sessions.
    ci_prob : float, optional
        Probability of the band; by default that of ArviZ's ``rcParams["stats.ci_prob"]``.
    figure : Figure or SubFigure, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Raises
    ------
    InputError
        If the log does not say which choices were right, or the trace has no choice probabilities.

    Examples
    --------
    >>> import icb_pymc, numpy as np
    >>> contrast = np.random.default_rng(0).normal(size=(60, 2, 1))
    >>> right = contrast[:, :, 0].argmax(axis=1)
    >>> decisions = icb_pymc.from_arrays(contrast, np.where(np.arange(60) % 7, right, 1 - right))
    >>> decisions = decisions.assign(answer=("time", right))
    >>> trace = icb_pymc.fit("nb_icb", decisions, method="laplace", draws=50, random_seed=0, progressbar=False)
    >>> figure = icb_pymc.plots.performance_over_time(trace)
    >>> figure.axes[0].get_ylabel()
    'right answers'
    """
    table = performance(trace, window=window, ci_prob=ci_prob)
    figure, ax = _draw_over_time(trace, table, window, ci_prob, figure)
    ax.set_ylim(min(0.4, float(table["observed"].min()) - 0.05), 1.02)
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set_ylabel("right answers" if "expected" in table else "rewarded choices", fontsize=10)
    return figure


def bias_over_time(
    trace: InferenceData, *, window: int | None = None, ci_prob: float | None = None, figure: AnyFigure | None = None
) -> AnyFigure:
    """Draw how much more often the second of two alternatives was chosen than it was right, and the model's band.

    The second alternative is the one that weights above zero speak for in a table of trials (1, or right). In logs
    without answers the reference is one half. Lines are interrupted in gaps, see `weights_over_time`.

    Parameters
    ----------
    trace : InferenceData
        Of choices between two alternatives, with choice probabilities.
    window, ci_prob, figure
        As in `performance_over_time`.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Raises
    ------
    InputError
        If there are decisions between more than two alternatives, or the trace has no choice probabilities.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> figure = icb_pymc.plots.bias_over_time(trace, window=100)
    >>> figure.axes[0].get_ylabel()
    'bias towards the second candidate'
    """
    table = bias(trace, window=window, ci_prob=ci_prob)
    figure, ax = _draw_over_time(trace, table, window, ci_prob, figure)
    ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:+.0%}")
    ax.set_ylabel(f"bias towards {label_of(table.attrs['second'])}", fontsize=10)
    return figure


def psychometric_curve(
    trace: InferenceData,
    feature: str,
    *,
    bins: int = BINS,
    ci_prob: float | None = None,
    figure: AnyFigure | None = None,
) -> AnyFigure:
    """Draw how often the second of two alternatives was chosen, by how much more of a feature it had, and the band.

    Parameters
    ----------
    trace : InferenceData
        Of choices between two alternatives, with choice probabilities.
    feature : str
        In the user's units.
    bins : int
        Into how many parts of equal size the choices are sorted, if the feature has more different values.
    ci_prob, figure
        As in `performance_over_time`.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Raises
    ------
    InputError
        If there is no such feature, it never differs, there are decisions between more than two alternatives, or the
        trace has no choice probabilities.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> figure = icb_pymc.plots.psychometric_curve(trace, "age")
    >>> figure.axes[0].get_xlabel()
    'age of the second candidate minus age of the other'
    """
    ci_prob = checked_ci_prob(ci_prob)
    table = psychometric(trace, feature, bins=bins, ci_prob=ci_prob)
    figure, grid = panel_grid(figure, 1, 1, (5.2, 4))
    ax, x, second = grid[0, 0], table["difference"], label_of(table.attrs["second"])
    ax.fill_between(x, table["low"], table["high"], color=COLOURS[0], alpha=0.2, linewidth=0, label="model")
    ax.plot(x, table["expected"], color=COLOURS[0], linewidth=1)
    ax.plot(x, table["observed"], "o", color="black", markersize=4, label="choices")
    ax.axhline(0.5, color="0.8", linewidth=0.6, zorder=0)
    ax.axvline(0, color="0.8", linewidth=0.6, zorder=0)
    ax.set_ylim(-0.02, 1.02)
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    name = label_of(feature)
    ax.set_xlabel(f"{name} of {second} minus {name} of the other", fontsize=10)
    ax.set_ylabel(f"chose {second}", fontsize=10)
    ax.legend(frameon=False, fontsize=8, loc="upper left")
    tidy(ax)
    figure.supxlabel(caption(trace, f"band: {ci_prob:.0%} of such logs, if the model is right"), fontsize=8)
    return figure


def _draw_over_time(
    trace: InferenceData, table: pd.DataFrame, window: int | None, ci_prob: float | None, figure: AnyFigure | None
) -> tuple[AnyFigure, Axes]:
    """Observed shares, and the band of the predicted ones."""
    figure, grid = panel_grid(figure, 1, 1, SIZE)
    ax, time = grid[0, 0], table["middle"].to_numpy()
    note = f"in running windows of {window} choices" if window else "dots: parts of the log"
    if "expected" in table:
        draw_band(ax, time, table["low"], table["high"], color=COLOURS[0], alpha=0.2)
        draw_line(ax, time, table["expected"], color=COLOURS[0], linewidth=1, label="model")
        note += f"; band: {checked_ci_prob(ci_prob):.0%} of such logs, if the model is right"
    style: dict[str, Any] = {"color": "black", "label": "choices", "linewidth": 1.2}
    if window is None:
        ax.plot(time, table["observed"], "o", markersize=3.5, **{**style, "linewidth": 0})
    else:
        draw_line(ax, time, table["observed"], **style)
    boundaries = boundary_times(trace)
    draw_sessions(ax, boundaries)
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    tidy(ax)
    at = group(trace, "constant_data")["time"].values
    label_times(figure, grid, 1, at, caption(trace, note + ("; vertical lines: sessions" if len(boundaries) else "")))
    return figure, ax
