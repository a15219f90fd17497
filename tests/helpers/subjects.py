"""Small logs of several subjects, and folders of their fits."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

from icb_pymc import from_arrays
from icb_pymc.io.workers import Workers
from icb_pymc.results.inference_data import group
from icb_pymc.sample import each

LAPLACE = {"method": "laplace", "draws": 40, "seed": 0, "progressbar": False}


def subject_logs(lengths=(30, 40, 35), weights=(1.0, -0.5), seed=0):
    """Decisions of subjects with constant weights, by name."""
    names = ["Ada", "Bo / ward 3", "Cy"]
    return {
        name: _log(length, weights, [seed, number])
        for number, (name, length) in enumerate(zip(names, lengths, strict=True))
    }


def _log(length, weights, seed):
    rng = np.random.default_rng(seed)
    contexts = rng.normal(size=(length, 2, len(weights))) * [1.0, 3.0]
    utility = contexts @ (np.asarray(weights) / [1.0, 3.0]) + rng.gumbel(size=(length, 2))
    return from_arrays(contexts, utility.argmax(axis=1), features=["price", "age"])


def beliefs(fits):
    """Draws of the beliefs, by subject."""
    return {subject: group(fits.tree(subject), "posterior")["belief"].values for subject in fits}


def stored_fits(folder):
    """Fits of the subjects in a folder, made in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(each, "processes", lambda jobs, in_hand: here)
        return each.fit_each("nb_icb", subject_logs(), folder=folder, **LAPLACE)


@contextmanager
def here():
    """Workers without processes of their own."""
    with ThreadPoolExecutor(1) as executor:
        yield Workers(executor, lambda: 2)
