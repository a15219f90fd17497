"""Settings that belong together: those of the published experiments."""

from typing import Any, NamedTuple

import numpy as np


class Preset(NamedTuple):
    """Hyperparameters of a model, and how its sampler is run."""

    hyperparameters: dict[str, Any]
    sampling: dict[str, Any]


class Estimate(NamedTuple):
    """What a companion `estimate` of a model returns: values of `rho_env` and/or `belief`, and how they were found."""

    values: dict[str, np.ndarray]
    how: str


# The sampler of B-IRL and all that is made of it: 10,000 iterations of burn-in, then every tenth of 10,000.
RANDOM_WALK: dict[str, Any] = {"draws": 1000, "tune": 1000, "sweeps": 10, "chains": 1, "kernel": "paper"}
