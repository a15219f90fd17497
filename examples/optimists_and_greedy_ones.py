# %% [markdown]
# # B-ICB of other learners than the Thompson sampler
#
# Plain B-ICB takes the agent for one who acts on a draw from its belief. The paper says that the approach extends to
# agents who act on the mean (Greedy), or on the mean and a bonus for what they do not know yet (Optimistic). Given the
# choices, the bonus x' Sigma_t x is a known number, so these posteriors are sampled by the same engine. Agents and
# models are declared by the same part, `icb_pymc.declare.learning.learn`; see `examples/models`.

# %%
from pathlib import Path

import pandas as pd

from icb_pymc import compare, fit, simulate
from icb_pymc.assess.metrics import belief_error, reward_error

STEPS, DRAWS, SEEDS = 500, 500, 3
# Unsure at first: a bonus shows only where there is much that is not known.
STRENGTH = 1.0
FOLDER = Path(__file__).parent / "models"
MODELS = {
    "B-ICB": "b_icb",
    "... of Greedy": FOLDER / "b_icb_greedy.py",
    "... of Optimistic": FOLDER / "b_icb_optimistic.py",
}

# %%
rows = []
for agent in ("sampling", "greedy", "optimistic"):
    for seed in range(SEEDS):
        decisions = simulate(agent, steps=STEPS, seed=seed, hyperparameters={"strength": STRENGTH})
        options = {"draws": DRAWS, "tune": DRAWS, "chains": 2, "seed": seed, "progressbar": False}
        fits = {name: fit(model, decisions, **options) for name, model in MODELS.items()}
        scores = compare(fits)
        for name, trace in fits.items():
            row = {"agent": agent, "model": name, "belief error": belief_error(trace)}
            row |= {"reward error": reward_error(trace), "elpd_diff": scores["elpd_diff"][name]}
            rows.append(row)
    table = pd.DataFrame(rows).query("agent == @agent").groupby(["agent", "model"], sort=False).mean()
    print(table.round(3).to_string(header=agent == "sampling"), flush=True)
