"""Simulation-based calibration: the ranks of the true values among the posterior draws."""

import numpy as np

from icb_pymc.assess.calibration import LEVEL, Check
from icb_pymc.assess.rank_uniformity import bands
from icb_pymc.errors import InputError
from icb_pymc.io.text import for_picture
from icb_pymc.plots.common import COLOURS, AnyFigure, panel_grid

BINS = 10
COLUMNS = 3


def calibration_picture(check: Check, *, figure: AnyFigure | None = None) -> AnyFigure:
    """Draw how far the ranks of the true values are from uniform, for every quantity.

    The line is F(z) - z of the relative ranks, the bars are the shares of tenths less 1/10. The line of a correct model
    leaves the band, somewhere in any panel, in one of a hundred checks.

    Parameters
    ----------
    check : Check
        Result of `icb_pymc.check`.
    figure : Figure or SubFigure, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Raises
    ------
    InputError
        If the check did not get as far as calibration.

    Examples
    --------
    >>> import icb_pymc, numpy as np, pandas as pd
    >>> from icb_pymc.assess.calibration import Check
    >>> ranks = pd.DataFrame({"alpha": np.linspace(0.01, 0.99, 50)})
    >>> table = pd.DataFrame({"p_value": [0.9], "ess": [49.0], "verdict": [""]}, index=["alpha"])
    >>> figure = icb_pymc.plots.calibration_picture(Check("nb_icb", (), ranks, table))
    >>> figure.get_suptitle().partition(";")[0]
    'nb_icb: right'
    """
    if check.relative_ranks is None:
        raise InputError("there is nothing to draw: " + str(check).partition("\n")[0])
    quantities = list(check.relative_ranks)
    rows = -(-len(quantities) // COLUMNS)
    figure, grid = panel_grid(figure, rows, COLUMNS, (4.0 * COLUMNS, 2.3 * rows), sharex=True, sharey=True)
    number = len(check.relative_ranks)
    points, low, high = bands(number, LEVEL / len(quantities))
    for ax, quantity in zip(grid.flat, quantities, strict=False):
        is_wrong = quantity in check.wrong
        ranks = check.relative_ranks[quantity].to_numpy()
        ax.fill_between([0, *points, 1], [0, *low, 0], [0, *high, 0], color="0.88", lw=0)
        shares = np.histogram(ranks, bins=BINS, range=(0, 1))[0] / number - 1 / BINS
        ax.bar((np.arange(BINS) + 0.5) / BINS, shares, width=0.9 / BINS, color="0.7", lw=0)
        difference = [(ranks <= point).mean() - point for point in points]
        ax.plot([0, *points, 1], [0, *difference, 0], color=COLOURS[5] if is_wrong else COLOURS[0], lw=1.6)
        ax.axhline(0, color="0.4", lw=0.6)
        ax.set_title(f"{for_picture(quantity)}{': wrong' if is_wrong else ''}", fontsize=9, loc="left")
    for ax in list(grid.flat)[len(quantities) :]:
        ax.set_visible(False)
    for ax in grid[-1]:
        ax.set_xlabel("relative rank of the true value")
    for ax in grid[:, 0]:
        ax.set_ylabel("difference")
    figure.suptitle(
        f"{for_picture(check.model)}: {'right' if check.passed else 'wrong'}; {number} replicates. Ranks of the true "
        "values: distribution (line) and shares of tenths (bars), less those of uniform ranks",
        fontsize=10,
    )
    return figure
