"""The picture of a check: where the truth lay among the posterior draws."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from icb_pymc.assess.calibration import LEVEL, Check
from icb_pymc.assess.rank_uniformity import bands
from icb_pymc.errors import InputError
from icb_pymc.plots.common import COLOURS

BINS = 10


def calibration_picture(check: Check) -> Figure:
    """How far the places of the truth are from uniform, for every quantity: shares of tenths, and F(z) - z.

    The band is that which a right model leaves, somewhere, in one of a hundred checks.
    """
    if check.places is None:
        raise InputError("there is nothing to draw: " + str(check).partition("\n")[0])
    quantities = list(check.places)
    columns = 3
    rows = -(-len(quantities) // columns)
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(4.0 * columns, 2.3 * rows),
        squeeze=False,
        layout="constrained",
        sharex=True,
        sharey=True,
    )
    number = len(check.places)
    points, low, high = bands(number, LEVEL / len(quantities))
    for ax, quantity in zip(grid.flat, quantities, strict=False):
        is_wrong = quantity in check.wrong
        places = check.places[quantity].to_numpy()
        ax.fill_between([0, *points, 1], [0, *low, 0], [0, *high, 0], color="0.88", lw=0)
        shares = np.histogram(places, bins=BINS, range=(0, 1))[0] / number - 1 / BINS
        ax.bar((np.arange(BINS) + 0.5) / BINS, shares, width=0.9 / BINS, color="0.7", lw=0)
        difference = [(places <= point).mean() - point for point in points]
        ax.plot([0, *points, 1], [0, *difference, 0], color=COLOURS[5] if is_wrong else COLOURS[0], lw=1.6)
        ax.axhline(0, color="0.4", lw=0.6)
        ax.set_title(f"{quantity}{': wrong' if is_wrong else ''}", fontsize=9, loc="left")
    for ax in list(grid.flat)[len(quantities) :]:
        ax.set_visible(False)
    for ax in grid[-1]:
        ax.set_xlabel("place of the truth among the draws")
    for ax in grid[:, 0]:
        ax.set_ylabel("beyond uniform")
    verdict = "right" if check.passed else "wrong"
    figure.suptitle(
        f"{check.model}: {verdict}; {number} replicates. Places of the truth: distribution (line) and shares of tenths "
        "(bars), less what is uniform",
        fontsize=10,
    )
    return figure
