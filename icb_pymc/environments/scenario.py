"""The environment in which the paper simulates each agent."""

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

    For `hierarchical_nb_icb` the arrivals are those of five centres without true weights, which the model draws itself.
    """
    if agent == "hierarchical_nb_icb" and not quadratic:
        total = 500 if steps is None else steps
        arrivals = several_centres(steps=-(-total // 5), actions=actions, seed=seed, transplants=transplants)
        truth = ["adoption", *(name for name in arrivals if str(name).startswith("true_"))]
        return arrivals.drop_vars(truth).isel(time=slice(total))
    if agent != "switching":
        return semi_synthetic(500 if steps is None else steps, actions, seed, transplants, quadratic)
    if quadratic:
        raise InputError("quadratic rewards do not apply to the switching agent, which follows fixed policies.")
    return sudden_change(2500 if steps is None else steps, actions, seed, transplants)
