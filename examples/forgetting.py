# %% [markdown]
# # A Bayesian learner that forgets, and therefore keeps learning
#
# A learner that follows equation 1 becomes ever more certain, and its beliefs hardly change after a few hundred
# decisions. If its precision decays by a constant factor at each decision, its certainty depends only on recent
# rewards. `models/forgetting.py` declares such a learner.

# %%
from pathlib import Path

import pandas as pd

from icb_pymc import compare, fit, simulate
from icb_pymc.assess.metrics import belief_error
from icb_pymc.models.b_icb import paper
from icb_pymc.results.inference_data import group

STEPS, DRAWS = 500, 500
MODEL = Path(__file__).parent / "models" / "forgetting.py"

# %%
rows = []
for memory in (0.9, 0.99):
    decisions = simulate(MODEL, steps=STEPS, random_seed=2, hyperparameters={"memory": memory})
    options = {"draws": DRAWS, "tune": DRAWS, "chains": 2, "random_seed": 2, "progressbar": False}
    as_b_icb = fit("b_icb", decisions, paper(decisions).hyperparameters, **options)
    fits = {"forgetting": fit(MODEL, decisions, **options), "b_icb": as_b_icb}
    draws = group(fits["forgetting"], "posterior")["memory"]
    low, high = draws.quantile([0.05, 0.95]).values
    row = {"memory": memory, "posterior mean": float(draws.mean()), "5%": low, "95%": high}
    row |= {"belief error": belief_error(fits["forgetting"]), "... of B-ICB": belief_error(fits["b_icb"])}
    row["elpd of B-ICB, less ours"] = float(compare(fits)["elpd"]["b_icb"] - compare(fits)["elpd"]["forgetting"])
    rows.append(row)
print(pd.DataFrame(rows).round(4).to_string(index=False))
