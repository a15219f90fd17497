"""What a way of fitting found, before it becomes an InferenceData."""

from typing import NamedTuple

import xarray as xr


class Fitted(NamedTuple):
    """What a method found, and how in words."""

    groups: dict[str, xr.Dataset]
    sampler: str
    interrupted: bool = False
    log_evidence: float | None = None
    is_estimate: bool = False
    drawing: float | None = None
