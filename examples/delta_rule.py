# %% [markdown]
# # A learner that follows the delta rule with an unknown learning rate
#
# Rescorla and Wagner's rule moves the weights in the direction of the chosen context by a fraction of the prediction
# error. `models/delta_rule.py` declares it in thirty lines, which serve for simulation and for inference. The learning
# rate and the beliefs are inferred from the choices alone; rewards are not observed.

# %%
from pathlib import Path

import pandas as pd

from icb_pymc import fit, simulate
from icb_pymc.assess.metrics import belief_error
from icb_pymc.models.b_icb import paper
from icb_pymc.results.inference_data import group

STEPS, DRAWS = 500, 500
MODEL = Path(__file__).parent / "models" / "delta_rule.py"

# %%
rows = []
for rate in (0.05, 0.3):
    decisions = simulate(MODEL, steps=STEPS, random_seed=1, hyperparameters={"learning_rate": rate})
    options = {"draws": DRAWS, "tune": DRAWS, "chains": 2, "random_seed": 1, "progressbar": False}
    trace = fit(MODEL, decisions, **options)
    as_b_icb = fit("b_icb", decisions, paper(decisions).hyperparameters, **options)
    draws = group(trace, "posterior")["learning_rate"]
    low, high = draws.quantile([0.05, 0.95]).values
    row = {"learning rate": rate, "posterior mean": float(draws.mean()), "5%": low, "95%": high}
    row |= {"belief error": belief_error(trace), "... of B-ICB": belief_error(as_b_icb), "by": trace.attrs["sampler"]}
    rows.append(row)
print(pd.DataFrame(rows).round(4).to_string(index=False))
