# %% [markdown]
# # Which learning rule explains this agent best?
#
# One log and four models: equation 1 with draws from the belief (B-ICB), equation 1 with forgetting, the delta rule,
# and no learning rule (NB-ICB, a random walk). They are compared by how well they predict choices that are left out,
# and by how well they forecast each choice from the choices before it. The agent follows the delta rule.

# %%
from pathlib import Path

from icb_pymc import compare, fit, register, simulate
from icb_pymc.assess.comparison import compare_ahead
from icb_pymc.models.b_icb import paper

STEPS, DRAWS = 500, 500
FOLDER = Path(__file__).parent / "models"
for name in ("delta_rule", "forgetting"):
    # Forecasts look up a trace's model by name: a trace contains no path, and no file is run on its behalf.
    register(FOLDER / f"{name}.py")
RULES = {
    "delta rule": "delta_rule",
    "equation 1": "b_icb",
    "equation 1, forgetting": "forgetting",
    "random walk": "nb_icb",
}

# %%
decisions = simulate("delta_rule", steps=STEPS, random_seed=3, hyperparameters={"learning_rate": 0.5})
options = {"draws": DRAWS, "tune": DRAWS, "chains": 2, "random_seed": 3, "progressbar": False}
# The models of the examples know alpha, sigma and the start of these agents.
known = {"b_icb": paper(decisions).hyperparameters}
traces = {name: fit(model, decisions, known.get(model), **options) for name, model in RULES.items()}

# %%
print("choices left out one at a time")
print(compare(traces).round(2).to_string())

# %%
print("\nchoices forecast from the choices before")
print(compare_ahead(traces).round(2).to_string())
