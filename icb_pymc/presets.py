"""Settings that belong together: those of the published experiments."""

from typing import Any, NamedTuple


class Preset(NamedTuple):
    """Hyperparameters of a model, and how its sampler is run."""

    hyperparameters: dict[str, Any]
    sampling: dict[str, Any]
