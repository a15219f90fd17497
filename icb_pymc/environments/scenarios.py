"""The environments that models are simulated in, all called in the same way (the `scenario` of a model's spec)."""

import pandas as pd
import xarray as xr

from icb_pymc.environments.semi_synthetic import semi_synthetic
from icb_pymc.environments.several_centres import several_centres
from icb_pymc.environments.sudden_change import sudden_change
from icb_pymc.errors import InputError

CENTRES = 5


def paper_scenario(
    *,
    steps: int | None = None,
    actions: int = 2,
    seed: int = 0,
    transplants: pd.DataFrame | None = None,
    quadratic: bool = False,
) -> xr.Dataset:
    """Arrivals of the paper's semi-synthetic environment, 500 by default."""
    return semi_synthetic(500 if steps is None else steps, actions, seed, transplants, quadratic)


def sudden_change_scenario(
    *,
    steps: int | None = None,
    actions: int = 2,
    seed: int = 0,
    transplants: pd.DataFrame | None = None,
    quadratic: bool = False,
) -> xr.Dataset:
    """Arrivals of the sudden-change scenario, 2,500 by default."""
    if quadratic:
        raise InputError("quadratic rewards do not apply to sudden changes, whose policies are given.")
    return sudden_change(2500 if steps is None else steps, actions, seed, transplants)


def centres_scenario(
    *,
    steps: int | None = None,
    actions: int = 2,
    seed: int = 0,
    transplants: pd.DataFrame | None = None,
    quadratic: bool = False,
) -> xr.Dataset:
    """Arrivals at five centres, 500 in all by default; the centres' beliefs are left to the model."""
    if quadratic:
        return paper_scenario(steps=steps, actions=actions, seed=seed, transplants=transplants, quadratic=True)
    total = 500 if steps is None else steps
    arrivals = several_centres(steps=-(-total // CENTRES), actions=actions, seed=seed, transplants=transplants)
    truth = ["adoption", *(name for name in arrivals if str(name).startswith("true_"))]
    return arrivals.drop_vars(truth).isel(time=slice(total))
