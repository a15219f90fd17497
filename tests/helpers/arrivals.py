"""Arrivals for simulated decisions."""

import numpy as np
import xarray as xr


def make_arrivals(steps: int, actions: int, features: int, seed: int = 0, share_available: float = 1.0) -> xr.Dataset:
    """Arrivals with standard normal features; slot 0 is always available."""
    rng = np.random.default_rng(seed)
    available = rng.random((steps, actions)) < share_available
    available[:, 0] = True
    weights = rng.normal(size=features)
    return xr.Dataset(
        {
            "context": (("time", "action", "feature"), rng.normal(size=(steps, actions, features))),
            "available": (("time", "action"), available),
            "true_rho_env": ("feature", weights / np.abs(weights).sum()),
        },
        coords={
            "time": np.arange(1, steps + 1),
            "action": np.arange(actions),
            "feature": [f"feature_{i}" for i in range(features)],
        },
    )
