"""Which environment the paper simulates an agent in."""

import pandas as pd
import xarray as xr

from icb_pymc.environments.semi_synthetic import semi_synthetic
from icb_pymc.environments.sudden_change import sudden_change
from icb_pymc.errors import InputError


def scenario(
    agent: str,
    *,
    steps: int | None = None,
    actions: int = 2,
    seed: int = 0,
    transplants: pd.DataFrame | None = None,
    quadratic: bool = False,
) -> xr.Dataset:
    """Arrivals for `agent`: the sudden-change scenario for `switching`, else the semi-synthetic environment."""
    if agent != "switching":
        return semi_synthetic(500 if steps is None else steps, actions, seed, transplants, quadratic)
    if quadratic:
        raise InputError("quadratic rewards do not apply to the switching agent, whose policies are given.")
    return sudden_change(2500 if steps is None else steps, actions, seed, transplants)
