"""Traces that no sampler made: choices simulated with known weights, and draws around these weights."""

import numpy as np
import xarray as xr

from icb_pymc import from_arrays
from icb_pymc.results.inference_data import from_groups

ATTRS = {"model": "nb_icb", "hyperparameters": '{"alpha": 1.0}', "method": "mcmc", "kernel": "engine", "seed": 0}


def made_trace(
    before=(1.0, 0.5, 0.0),
    after=(1.0, 0.5, 0.0),
    *,
    features=("age", "inr", "sex"),
    steps=400,
    draws=400,
    chains=2,
    spread=0.1,
    seed=0,
    dates=False,
    label_agents=None,
    attrs=None,
    probabilities=False,
    disagree=0.0,
):
    """A trace of choices among two candidates whose weights change half-way, with draws around the true weights."""
    rng = np.random.default_rng(seed)
    k = len(features)
    path = np.repeat(np.array([before, after], dtype=float), [steps // 2, steps - steps // 2], axis=0)
    context = rng.normal(size=(steps, 2, k))
    utility = (context * path[:, None]).sum(-1)
    chosen = (utility + rng.gumbel(size=utility.shape)).argmax(axis=1)
    time = None
    if dates:
        time = np.datetime64("2001-01-01", "ns") + np.arange(steps) * np.timedelta64(7, "D")
    decisions = from_arrays(context, chosen, features=list(features), time=time, agent=label_agents)
    noise = spread * rng.normal(size=(chains, draws, 1, k)) + disagree * np.arange(chains)[:, None, None, None]
    belief = xr.DataArray(
        path + noise + np.zeros((chains, draws, steps, k)),
        {"time": decisions["time"].values, "feature": decisions["feature"].values},
        ("chain", "draw", "time", "feature"),
    )
    groups = {
        "posterior": xr.Dataset({"belief": belief}),
        "observed_data": decisions[["chosen"]],
        "constant_data": decisions.drop_vars("chosen"),
    }
    if probabilities:
        chance = np.exp(utility) / np.exp(utility).sum(axis=1, keepdims=True)
        groups["choice_probabilities"] = xr.Dataset({"probability": (("time", "action"), chance)})
    return from_groups(groups, ATTRS | (attrs or {}))
