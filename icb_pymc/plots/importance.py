"""Relative importance of features over time."""

from collections.abc import Mapping, Sequence
from typing import Any

from icb_pymc.assess.metrics import relative_importance
from icb_pymc.plots.common import AnyFigure, label_importance, true_importance
from icb_pymc.plots.paths import draw_paths, paths_caption
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import draws_of


def importance_over_time(
    trace: InferenceData,
    *,
    features: Sequence[str] | None = None,
    events: Mapping[Any, str] | None = None,
    ci_prob: float | None = None,
    figure: AnyFigure | None = None,
) -> AnyFigure:
    """Draw the relative importance of each feature over time, with credible bands.

    The truth is dotted where it is known. Up to four features share one panel; more get a panel each, since overlapping
    bands cannot be read.

    Sessions begin at faint lines. Lines are interrupted in gaps: where no decision was made for more than a twentieth
    of the log and more than ten times as long as is typical.

    Parameters
    ----------
    trace : InferenceData
    features : sequence of str, optional
        Those to draw; all by default. Importance is relative to all.
    events : mapping, optional
        Times or dates and what happened then, drawn as labelled lines.
    ci_prob : float, optional
        Probability of the central credible bands; by default that of ArviZ's ``rcParams["stats.ci_prob"]``.
    figure : Figure or SubFigure, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Raises
    ------
    InputError
        If the trace has no beliefs or no such feature, or an event lies outside the decisions.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> figure = icb_pymc.plots.importance_over_time(trace, features=["age", "inr"], events={250: "halfway"})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['age', 'inr']
    """
    importance = relative_importance(draws_of(trace, "belief"))
    truth = true_importance(trace, importance)
    figure, grid, panels = draw_paths(trace, importance, truth, features, events, ci_prob, figure)
    label_importance(figure, grid, panels, importance["time"].values, paths_caption(trace, ci_prob, truth))
    return figure
