"""Parameters that differ between agents: each agent's, and the population's."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from icb_pymc.errors import InputError
from icb_pymc.plots.common import COLOURS, AnyFigure, caption, label_of, panel_grid, tidy
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import central_band, checked_ci_prob

POPULATION = "_population"
# Names of agents are written beside their rows up to this many.
MOST_NAMES = 40


def parameters_by_agent(
    trace: InferenceData,
    *,
    parameters: Sequence[str] | None = None,
    ci_prob: float | None = None,
    figure: AnyFigure | None = None,
) -> AnyFigure:
    """Draw each parameter of a population: the credible interval of every agent, and of the population's median.

    There is one panel for each parameter, in which agents are sorted as in the log; the truth is a cross where it is
    known. The dashed line and the band are the median of the population.

    Parameters
    ----------
    trace : InferenceData
        Of a model with `icb_pymc.declare.of_each_agent`.
    parameters : sequence of str, optional
        Those to draw, such as ``["learning_rate"]``; all by default.
    ci_prob : float, optional
        Probability of the central credible intervals; by default that of ArviZ's ``rcParams["stats.ci_prob"]``.
    figure : Figure or SubFigure, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Raises
    ------
    InputError
        If the trace has no parameters that differ between agents, or not those named.

    Examples
    --------
    >>> import icb_pymc, numpy as np, xarray as xr
    >>> from icb_pymc.results.inference_data import from_groups
    >>> rng = np.random.default_rng(0)
    >>> rates = (("chain", "draw", "agent"), rng.uniform(0.1, 0.4, (2, 50, 3)))
    >>> median = (("chain", "draw"), rng.uniform(0.2, 0.3, (2, 50)))
    >>> posterior = xr.Dataset(
    ...     {"learning_rate": rates, "learning_rate_population": median}, coords={"agent": ["Ada", "Bo", "Cy"]}
    ... )
    >>> figure = icb_pymc.plots.parameters_by_agent(from_groups({"posterior": posterior}, {}))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['Ada', 'Bo', 'Cy']
    """
    posterior, data = group(trace, "posterior"), group(trace, "constant_data")
    shown = list(parameters or population_parameters(posterior))
    for name in shown:
        if name not in population_parameters(posterior):
            known = ", ".join(population_parameters(posterior))
            raise InputError(f"'{name}' does not differ between agents in this trace; there is {known or 'nothing'}.")
    if not shown:
        raise InputError("this trace has no parameters that differ between agents; declare them by of_each_agent.")
    ci_prob = checked_ci_prob(ci_prob)
    names = [label_of(name) for name in posterior["agent"].values]
    rows = np.arange(len(names))
    size = (3.2 * len(shown) + 1, min(0.22 * len(names), 9) + 1.4)
    figure, grid = panel_grid(figure, 1, len(shown), size, sharey=True)
    for ax, name in zip(grid.flat, shown, strict=True):
        low, median, high = central_band(posterior[name].transpose("chain", "draw", "agent"), ci_prob).values
        ax.hlines(rows, low, high, color=COLOURS[0], linewidth=1.6)
        ax.plot(median, rows, "o", color=COLOURS[0], markersize=3.5, label="agent")
        if f"true_{name}" in data:
            ax.plot(data[f"true_{name}"].values, rows, "x", color="black", markersize=4, label="truth")
        if f"{name}{POPULATION}" in posterior:
            low, median, high = central_band(posterior[f"{name}{POPULATION}"], ci_prob).values
            ax.axvspan(low, high, color=COLOURS[1], alpha=0.15, linewidth=0)
            ax.axvline(median, color=COLOURS[1], linestyle="--", label="population")
        tidy(ax)
        ax.set_title(label_of(name), fontsize=9)
    first = grid.flat[0]
    if len(names) <= MOST_NAMES:
        first.set_yticks(rows, names, fontsize=7)
    else:
        first.set_ylabel(f"{len(names)} agents")
    first.invert_yaxis()
    handles, labels = first.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False, fontsize=9)
    figure.supxlabel(caption(trace, f"{ci_prob:.0%} credible intervals"), fontsize=8)
    return figure


def population_parameters(posterior: xr.Dataset) -> list[str]:
    """Names of the parameters that differ between agents and have a population."""
    return [
        str(name)
        for name in posterior.data_vars
        if posterior[name].dims == ("chain", "draw", "agent") and f"{name}{POPULATION}" in posterior
    ]
