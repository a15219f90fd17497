"""What a method of fitting returns, before it becomes an InferenceData."""

from typing import NamedTuple

import xarray as xr


class Outcome(NamedTuple):
    """Draws or an estimate, and how they were made.

    Attributes
    ----------
    groups : dict of str to Dataset
        `posterior`, and what else the method provides.
    sampler : str
        How it was sampled or computed, for people.
    kernel : str
        What sampled it: engine, gibbs, paper, nuts, nutpie, own (user-defined steps) or pymc (steps that PyMC chose);
        none if nothing was sampled.
    interrupted : bool
        Whether the user interrupted the sampling, so that draws are missing.
    log_evidence : float, optional
        log p(choices), of Laplace's method.
    is_estimate : bool
        Whether it is a point estimate: one chain with one draw.
    drawing_seconds : float, optional
        Time spent tuning and drawing.
    """

    groups: dict[str, xr.Dataset]
    sampler: str
    kernel: str = "none"
    interrupted: bool = False
    log_evidence: float | None = None
    is_estimate: bool = False
    drawing_seconds: float | None = None
