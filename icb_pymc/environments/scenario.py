"""Which environment the paper simulates an agent in."""

import pandas as pd
import xarray as xr

from icb_pymc.environments.semi_synthetic import semi_synthetic
from icb_pymc.environments.several_centres import several_centres
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
    """Arrivals for `agent`: the sudden-change scenario for `switching`, else the semi-synthetic environment.

    For `hierarchical_nb_icb` they come to five centres, whose beliefs are the model's to draw.
    """
    if agent == "hierarchical_nb_icb" and not quadratic:
        total = 500 if steps is None else steps
        arrivals = several_centres(steps=-(-total // 5), actions=actions, seed=seed, transplants=transplants)
        told = ["adoption", *(name for name in arrivals if str(name).startswith("true_"))]
        return arrivals.drop_vars(told).isel(time=slice(total))
    if agent != "switching":
        return semi_synthetic(500 if steps is None else steps, actions, seed, transplants, quadratic)
    if quadratic:
        raise InputError("quadratic rewards do not apply to the switching agent, whose policies are given.")
    return sudden_change(2500 if steps is None else steps, actions, seed, transplants)
