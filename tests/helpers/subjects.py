"""Small logs of several subjects, and folders of their fits."""

import numpy as np

from icb_pymc import from_arrays
from icb_pymc.results.inference_data import group

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
