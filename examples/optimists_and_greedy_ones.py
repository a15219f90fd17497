# %% [markdown]
# # B-ICB for learners other than the Thompson sampler
#
# Plain B-ICB assumes that the agent acts on a draw from its belief. The paper says that the approach extends to agents
# that act on the mean (Greedy), or on the mean plus a bonus for uncertainty (Optimistic). Given the choices, the bonus
# x' Sigma_t x is a known number, so the same engine samples these posteriors. Agents and models are declared with the
# same function, `icb_pymc.declare.learn`; see `examples/models`.

# %%
from pathlib import Path

import pandas as pd

from icb_pymc import compare, fit, simulate
from icb_pymc.assess.metrics import belief_error, reward_error
from icb_pymc.models.b_icb import paper

STEPS, DRAWS, SEEDS = 500, 500, 3
# A weak first belief: the bonus has a visible effect only while the agent is uncertain.
STRENGTH = 1.0
FOLDER = Path(__file__).parent / "models"
MODELS = {
    "B-ICB": "b_icb",
    "... for Greedy": FOLDER / "b_icb_greedy.py",
    "... for Optimistic": FOLDER / "b_icb_optimistic.py",
}

# %%
rows = []
for agent in ("sampling", "greedy", "optimistic"):
    for seed in range(SEEDS):
        decisions = simulate(agent, steps=STEPS, random_seed=seed, hyperparameters={"strength": STRENGTH})
        options = {"draws": DRAWS, "tune": DRAWS, "chains": 2, "random_seed": seed, "progressbar": False}
        # The models of the examples know alpha, sigma and the start of these agents.
        known = {"b_icb": paper(decisions).hyperparameters}
        fits = {name: fit(model, decisions, known.get(model), **options) for name, model in MODELS.items()}
        scores = compare(fits)
        for name, trace in fits.items():
            row = {"agent": agent, "model": name, "belief error": belief_error(trace)}
            row |= {"reward error": reward_error(trace), "elpd_diff": scores["elpd_diff"][name]}
            rows.append(row)
    table = pd.DataFrame(rows).query("agent == @agent").groupby(["agent", "model"], sort=False).mean()
    print(table.round(3).to_string(header=agent == "sampling"), flush=True)
