"""Many subjects that were fitted one by one: the path of each, their mean, and the change of each around an event."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icb_pymc.assess.population import CLEAR, Population
from icb_pymc.assess.subject_paths import subject_paths
from icb_pymc.io.text import for_picture
from icb_pymc.plots.common import (
    COLOURS,
    AnyFigure,
    draw_events,
    events_within,
    known_features,
    label_of,
    label_times,
    panel_grid,
    tidy,
)
from icb_pymc.results.fits import Fits

# Names of subjects are written beside their rows up to this many.
MOST_NAMES = 40
# Half the width of a 95% interval, in standard deviations of a Gaussian.
HALF_WIDTH = 1.96


def subjects_over_time(
    fits: Fits,
    *,
    of: str = "weights",
    features: Sequence[str] | None = None,
    events: Mapping[Any, str] | None = None,
    unit: str = "sd",
    progressbar: bool = False,
    figure: AnyFigure | None = None,
) -> AnyFigure:
    """Draw a thin line for each subject, its posterior mean, and the mean of all with their spread.

    There is one panel for each feature. Uncertainty about a single subject is not drawn: see its own trace.

    Parameters
    ----------
    fits : Fits
        From `icb_pymc.fit_each` or `icb_pymc.read_fits`.
    of : {"weights", "importance"}
        Signed weights in log-odds, or relative importance.
    features : sequence of str, optional
        Those to draw; all by default.
    events : mapping, optional
        Times or dates and what happened then, drawn as labelled lines.
    unit : {"sd", "user"}
        Of weights: per standard deviation of the feature over all subjects, or per unit of the user's feature.
    progressbar : bool
        Show one while traces are read.
    figure : Figure or SubFigure, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Raises
    ------
    InputError
        If no subject has a path, there is no such feature, or an event lies outside all decisions.

    Examples
    --------
    >>> import icb_pymc, numpy as np, tempfile
    >>> rng = np.random.default_rng(0)
    >>> contexts, chosen = rng.normal(size=(40, 2, 2)), rng.integers(2, size=40)
    >>> decisions = icb_pymc.from_arrays(contexts, chosen, agent=["Ada", "Bo"] * 20, features=["age", "inr"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = {"method": "laplace", "draws": 20, "seed": 0, "progressbar": False}
    ...     fits = icb_pymc.fit_each("nb_icb", decisions, folder=f"{folder}/fits", **options)
    ...     figure = icb_pymc.plots.subjects_over_time(fits)
    >>> [ax.get_title() for ax in figure.axes]
    ['age', 'inr']
    """
    found = subject_paths(fits, of, unit, progressbar)
    shown = known_features(found.mean, features)
    every_time = np.sort(np.unique(np.concatenate([path["time"].values for path in found.paths.values()])))
    event_times = events_within(every_time, events)
    columns = min(len(shown), 2 if len(shown) in (2, 4) else 3)
    rows = -(-len(shown) // columns)
    figure, grid = panel_grid(
        figure, rows, columns, (max(3.6 * columns, 6), 2.7 * rows + 0.8), sharex=True, sharey=True
    )
    # Many lines together must still show where most of them are.
    faint = float(np.clip(8 / len(found.paths), 0.04, 0.5))
    for ax, feature in zip(grid.flat, shown, strict=False):
        for path in found.paths.values():
            ax.plot(path["time"].values, path.sel(feature=feature), color=COLOURS[0], alpha=faint, linewidth=0.8)
        mean, spread = found.mean.sel(feature=feature), found.spread.sel(feature=feature)
        time = mean["time"].values
        ax.fill_between(time, mean - spread, mean + spread, color=COLOURS[1], alpha=0.25, linewidth=0)
        ax.plot(time, mean, color=COLOURS[5], linewidth=2)
        if of == "weights":
            ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
        draw_events(ax, event_times, labelled=ax is grid.flat[0])
        tidy(ax)
        ax.set_title(label_of(feature), fontsize=9)
    note = f"{for_picture(fits.settings.get('model', 'model'))}: posterior means of {len(found.paths)} subjects, "
    label_times(figure, grid, len(shown), every_time, f"{note}their mean and standard deviation")
    words = {"sd": "log-odds per standard deviation", "user": "log-odds per unit"}
    figure.supylabel("relative importance" if of == "importance" else f"weight, {words[unit]}", fontsize=10)
    return figure


def changes_by_subject(found: Population, *, figure: AnyFigure | None = None) -> AnyFigure:
    """Draw the change of each subject's weights around events with a 95% interval, and the mean over subjects.

    There is a row of panels for each event and a column for each feature; subjects are in order of their change. Those
    whose direction has a probability of at least 0.975 are darker.

    Parameters
    ----------
    found : Population
        From `icb_pymc.population` with events (or without, for average weights and their movement).
    figure : Figure or SubFigure, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Examples
    --------
    >>> import icb_pymc, numpy as np, tempfile
    >>> rng = np.random.default_rng(0)
    >>> contexts, chosen = rng.normal(size=(80, 2, 1)), rng.integers(2, size=80)
    >>> decisions = icb_pymc.from_arrays(contexts, chosen, agent=["Ada", "Bo"] * 40, features=["age"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = {"method": "laplace", "draws": 20, "seed": 0, "progressbar": False}
    ...     fits = icb_pymc.fit_each("nb_icb", decisions, folder=f"{folder}/fits", **options)
    ...     found = icb_pymc.population(fits)
    >>> [ax.get_title() for ax in icb_pymc.plots.changes_by_subject(found).axes]
    ['average weight: age', 'last minus first: age']
    """
    quantities, features = (list(found.summary.index.unique(level)) for level in ("quantity", "feature"))
    subjects = found.table["subject"].nunique()
    height = min(0.2 * subjects, 7) + 1.0
    figure, grid = panel_grid(
        figure, len(quantities), len(features), (3.0 * len(features) + 1, height * len(quantities))
    )
    for axes, quantity in zip(grid, quantities, strict=True):
        for ax, feature in zip(axes, features, strict=True):
            _draw_changes(ax, found, quantity, feature)
    words = {"sd": "log-odds per standard deviation", "user": "log-odds per unit"}
    figure.supxlabel(f"{words[found.unit]}; dashed: mean over subjects", fontsize=8)
    return figure


def _draw_changes(ax: Any, found: Population, quantity: str, feature: str) -> None:
    chosen = (found.table["quantity"] == quantity) & (found.table["feature"] == feature)
    part = found.table[chosen].sort_values("mean")
    rows = np.arange(len(part))
    clear = ((part["above"] >= CLEAR) | (part["above"] <= 1 - CLEAR)).to_numpy()
    for which, shade in ((clear, 1.0), (~clear, 0.35)):
        mean, half = part["mean"].to_numpy()[which], HALF_WIDTH * part["sd"].to_numpy()[which]
        ax.hlines(rows[which], mean - half, mean + half, color=COLOURS[0], alpha=shade, linewidth=1.2)
        ax.plot(mean, rows[which], "o", color=COLOURS[0], alpha=shade, markersize=2.5)
    ax.axvline(0, color="0.6", linewidth=0.8, zorder=0)
    if (quantity, feature) in found.summary.index:
        ax.axvline(found.summary.loc[(quantity, feature), "mean"], color=COLOURS[5], linestyle="--")
    tidy(ax)
    ax.set_title(f"{for_picture(quantity)}: {label_of(feature)}", fontsize=8)
    if len(part) <= MOST_NAMES:
        ax.set_yticks(rows, [label_of(name) for name in part["subject"]], fontsize=6)
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(part)} subjects", fontsize=8)
