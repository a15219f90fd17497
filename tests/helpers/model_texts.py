"""Files with models for tests."""

from pathlib import Path

HEAD = """
import pymc as pm
from icb_pymc.declare import choose, decisions_model, linear_utility, specify
"""

# A model with constant preferences.
PLAIN = (
    HEAD
    + '''

def plain(decisions, *, alpha=2.0, scale=1.0):
    """rho_t = w for all t."""
    with decisions_model(decisions) as model:
        weights = pm.Normal("weights", 0.0, scale, dims="feature")
        belief = weights[None] * pm.math.ones((decisions.sizes["time"], 1))
        pm.Deterministic("belief", belief, dims=("time", "feature"))
        choose(linear_utility(belief, model["context"], alpha))
    return model
'''
)


def write(folder: Path, name: str, text: str) -> str:
    """Write a file with a model."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return str(path)
