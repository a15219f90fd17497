# %% [markdown]
# Five centres, two hundred decisions each. A guideline asks them to decide by MELD instead of waiting time, and each
# centre adopts it to a different degree. The log is analysed in three ways: all centres as one agent (NB-ICB, pooled),
# each centre separately (NB-ICB, apart), and centres that share a trend and deviate from it (hierarchical NB-ICB). All
# three learn how far beliefs move.

# %%
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc import fit, simulate
from icb_pymc.assess.metrics import belief_error, relative_importance, unit_weights
from icb_pymc.data.deciders import decisions_by
from icb_pymc.environments.several_centres import several_centres
from icb_pymc.results.inference_data import group

ADOPTION = (1.0, 0.8, 0.6, 0.4, 0.2)
OPTIONS: dict[str, Any] = {"chains": 2, "draws": 500, "tune": 500, "random_seed": 0, "progressbar": False}
# The centres act on their beliefs without noise, with the usual alpha of 20; the prior of the first belief is wide.
KNOWN: dict[str, Any] = {"sampling_covariance": 0.0, "start_covariance": 0.25}
FEATURE = "waiting_time"


def move_variance() -> Any:
    """Prior of the variance of a move: from weights that hardly move in 1000 decisions to weights that move in ten."""
    return pm.LogNormal.dist(np.log(1e-5), 2.0)


def fits(decisions: xr.Dataset) -> tuple[Any, Any, dict[str, Any]]:
    """The three analyses; the last has one fit for each centre."""
    together = fit(
        "hierarchical_nb_icb",
        decisions,
        KNOWN
        | {
            "clock": "calendar",
            "innovation_covariance": move_variance(),
            "deviation_covariance": pm.LogNormal.dist(np.log(1e-3), 2.0),
            "deviation_innovation_covariance": move_variance(),
        },
        **OPTIONS,
    )
    pooled = fit("nb_icb", decisions, KNOWN | {"innovation_covariance": move_variance()}, **OPTIONS)
    apart = {}
    for name in decisions["agent"].values:
        own = decisions_by(decisions, name)
        apart[name] = fit("nb_icb", own, KNOWN | {"innovation_covariance": move_variance()}, **OPTIONS)
    return together, pooled, apart


def errors_by_centre(trace: Any) -> np.ndarray:
    """The belief error of Table 2 for the decisions of each centre."""
    data, belief = group(trace, "constant_data"), group(trace, "posterior")["belief"].mean(("chain", "draw"))
    errors = abs(unit_weights(belief) - unit_weights(data["true_belief"])).sum("feature").values
    return np.array([errors[data["decider"].values == j].mean() for j in range(data.sizes["agent"])])


def last_third(belief: xr.DataArray, total: int) -> xr.DataArray:
    """Mean importance of the waiting time over the last third of the log."""
    late = belief.isel(time=belief["time"].values > 2 * total / 3)
    return relative_importance(late).sel(feature=FEATURE).mean("time")


def show(decisions: xr.Dataset, together: Any, apart: dict[str, Any]) -> None:
    """Print the importance of the waiting time after the guideline, by centre, with the truth."""
    total = decisions.sizes["time"]
    print(f"importance of {FEATURE} over the last third: truth, together (90% interval), apart")
    posterior = group(together, "posterior")
    rows = {"trend": (decisions["true_trend"], posterior["trend"], None)}
    for j, name in enumerate(decisions["agent"].values):
        own = decisions["decider"].values == j
        alone = group(apart[name], "posterior")["belief"]
        rows[name] = (decisions["true_belief"].isel(time=own), posterior["belief"].isel(time=own), alone)
    for name, (truth, mine, alone) in rows.items():
        draws = last_third(mine, total)
        low, high = draws.quantile([0.05, 0.95])
        other = "" if alone is None else f"{float(last_third(alone, total).mean()):8.2f}"
        print(
            f"{name:>10}{float(last_third(truth, total)):8.2f}{float(draws.mean()):8.2f}"
            f" ({float(low):.2f} to {float(high):.2f}){other}"
        )


# %%
if __name__ == "__main__":
    picture = Path(sys.argv[1] if len(sys.argv) > 1 else "several_centres.png")
    errors = []
    for seed in range(3):
        decisions = simulate("switching", arrivals=several_centres(ADOPTION, steps=200, seed=seed), random_seed=seed)
        together, pooled, apart = fits(decisions)
        row = [errors_by_centre(together), errors_by_centre(pooled)]
        row.append(np.array([belief_error(trace) for trace in apart.values()]))
        errors.append(row)
        if seed == 0:
            show(decisions, together, apart)
            from icb_pymc.plots.agents import importance_by_agent

            turn = int(0.4 * decisions.sizes["time"])
            figure = importance_by_agent(together, events={turn: "guideline"})
            figure.savefig(picture, dpi=150, bbox_inches="tight")
            print(f"picture written to {picture}\n\nbelief errors     together   pooled   apart")
        print(f"seed {seed}{row[0].mean():>20.3f}{row[1].mean():>9.3f}{row[2].mean():>8.3f}")
    mean = np.mean(errors, axis=0)
    print(f"mean{mean[0].mean():>22.3f}{mean[1].mean():>9.3f}{mean[2].mean():>8.3f}")
    for j, strength in enumerate(ADOPTION):
        print(f"adoption {strength:.1f}{mean[0, j]:>14.3f}{mean[1, j]:>9.3f}{mean[2, j]:>8.3f}")
