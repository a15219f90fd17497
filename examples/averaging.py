# %% [markdown]
# # Is the average of two models as good as the better of them?
#
# B-ICB is right for agents that learn by Bayes' rule, NB-ICB for those that change in other ways, and from a log alone
# one does not know which agent it was. `icb_pymc.average` weighs the two by how well they explain the choices: by their
# evidence (the default), by one-step-ahead forecasts, or by leaving out one choice at a time. For each agent of the
# paper, this compares the error of the averaged beliefs with that of the better model, which only the truth can tell.

# %%
import json

import numpy as np
import pandas as pd

from icb_pymc import average, fit, simulate
from icb_pymc.assess.metrics import belief_error
from icb_pymc.models.b_icb import paper

STEPS, DRAWS, SEEDS = 500, 500, 3
SCORES = ("evidence", "ahead", "loo")
AGENTS = ("stationary", "sampling", "optimistic", "greedy", "stepping", "linear", "regressing")


def known(decisions):
    """What each model is told of these agents, as in the tables: alpha, sigma and where they start."""
    published = paper(decisions).hyperparameters
    return {"b_icb": published, "nb_icb": {name: published[name] for name in ("alpha", "start_mean")}}


# %%
rows = []
for agent in AGENTS:
    for seed in range(SEEDS):
        decisions = simulate(agent, steps=STEPS, random_seed=seed)
        options = {"draws": DRAWS, "tune": 300, "chains": 2, "random_seed": seed, "progressbar": False}
        fits = {model: fit(model, decisions, given, **options) for model, given in known(decisions).items()}
        row = {"agent": agent} | {model: belief_error(trace) for model, trace in fits.items()}
        for score in SCORES:
            trace = average(fits, score=score)
            row[score] = belief_error(trace)
            row[f"weight of b_icb, {score}"] = json.loads(trace.attrs["averaged"])["models"]["b_icb"]["weight"]
        rows.append(row)
    # Mean errors over the seeds, and how much larger that of the average is than that of the better model.
    table = pd.DataFrame(rows).groupby("agent", sort=False).mean()
    better = np.minimum(table["b_icb"], table["nb_icb"])
    for score in SCORES:
        table[f"{score} / better"] = table[score] / better
    print(table.tail(1).round(3).to_string(header=agent == AGENTS[0]), flush=True)
