# %% [markdown]
# # Does one prior of NB-ICB fit short logs, long logs, and features in any unit?
#
# By default NB-ICB learns how large weights are and how far they move over the whole log. Its former default stated
# both in fixed numbers that suit the logs of the paper: alpha = 20, Sigma_P = 5e-4, and Sigma_B = 5e-5 for each
# decision and for the first belief. This compares the errors of the two (Table 2 of the paper) where T is 100, 500
# and 5,000, with features as they are and ten times as large. Neither knows that the agents begin at -1/k.

# %%
import argparse

import numpy as np
import pandas as pd

from icb_pymc import fit, simulate
from icb_pymc.assess.metrics import belief_error

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, nargs="+", default=[100, 500, 5000], help="decisions in a log")
parser.add_argument("--logs", type=int, nargs="+", default=[6, 4, 2], help="logs of each of these lengths")
options, _ = parser.parse_known_args()
AGENTS = ("sampling", "stepping")
FIXED = {"alpha": 20.0, "innovation_covariance": 5e-5, "start_covariance": 5e-5, "sampling_covariance": 5e-4}
FIT = {"draws": 400, "tune": 200, "chains": 1, "log_likelihood": False, "progressbar": False}


def error(log, given, seed, units=1.0):
    """Belief error of a fit to features multiplied by `units`, compared in the old units."""
    scaled = log.assign(context=log["context"] * units, true_belief=log["true_belief"] / units)
    return belief_error(fit("nb_icb", scaled, given, random_seed=seed, **FIT))


# %%
rows = []
for steps, seeds in zip(options.steps, options.logs, strict=True):
    for agent in AGENTS:
        for seed in range(seeds):
            log = simulate(agent, steps=steps, random_seed=seed)
            for name, given in (("fixed", FIXED), ("default", {})):
                row = {"T": steps, "agent": agent, "prior": name, "error": error(log, given, seed)}
                # Long fits take long, and what features are measured in matters as much in short ones.
                if steps <= 500:
                    row["features x 10"] = error(log, given, seed, 10.0)
                rows.append(row)

# %% Means and their standard errors; what counts is the difference between the two on the same logs.
runs = pd.DataFrame(rows)
print(runs.groupby(["T", "agent", "prior"], sort=False).mean().round(3).to_string())
paired = runs.pivot_table(index=["T", "agent"], columns="prior", values="error", aggfunc=list).reset_index()
print("\ndefault minus fixed, mean (standard error)")
for row in paired.itertuples(index=False):
    difference = np.subtract(row[2], row[3])
    print(f"{row[0]:>6} {row[1]:10}{difference.mean():7.3f} ({difference.std(ddof=1) / len(difference) ** 0.5:.3f})")
