# %% [markdown]
# How smooth are beliefs? NB-ICB on the Sampling agent with the published covariances, and with two learnt scales: one
# for the moves of beliefs, and one for the spread of rho around them. Belief errors (Table 2 of the paper), five seeds.

# %%
import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc import fit, simulate
from icb_pymc.assess.metrics import belief_error
from icb_pymc.models import nb_icb
from icb_pymc.models.nb_icb import paper
from icb_pymc.results.inference_data import group


def nb_icb_with_scales(decisions: xr.Dataset) -> pm.Model:
    """NB-ICB with each of the published covariances multiplied by a learnt scale."""
    published = paper(decisions).hyperparameters
    with pm.Model():
        scales = {
            "innovation_covariance": pm.LogNormal("smoothness", 0.0, 2.0),
            "sampling_covariance": pm.LogNormal("spread", 0.0, 1.0),
        }
        return nb_icb(decisions, **published | {name: scale * published[name] for name, scale in scales.items()})


# %%
if __name__ == "__main__":
    options = {"random_seed": 0, "chains": 2, "draws": 500, "tune": 300, "progressbar": False}
    errors = []
    print("seed   published   learnt   by evidence   smoothness  spread")
    for seed in range(5):
        decisions = simulate("sampling", steps=500, random_seed=seed)
        published = fit("nb_icb", decisions, paper(decisions).hyperparameters, **options)
        learnt = fit(nb_icb_with_scales, decisions, **options)
        by_evidence = fit(nb_icb_with_scales, decisions, method="laplace", draws=200, random_seed=0, progressbar=False)
        errors.append([belief_error(trace) for trace in (published, learnt, by_evidence)])
        scales = group(learnt, "posterior")[["smoothness", "spread"]].mean()
        row = [*errors[-1], float(scales["smoothness"]), float(scales["spread"])]
        print(f"{seed:>4}{row[0]:>12.3f}{row[1]:>9.3f}{row[2]:>14.3f}{row[3]:>13.2f}{row[4]:>8.2f}")
    mean = np.mean(errors, axis=0)
    print(f"mean{mean[0]:>12.3f}{mean[1]:>9.3f}{mean[2]:>14.3f}")
