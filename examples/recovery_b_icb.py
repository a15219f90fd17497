# %% [markdown]
# # Does B-ICB recover known parameters? And how does EM, as published, do on the same data?
#
# Five Sampling agents at T = 500 on the synthetic liver cohort (no real patient), each with a rho_env drawn from the
# prior N(-1/k, (2/k)^2 I) and a first belief of strength 10. With these known, 90% credible intervals should cover the
# truth in 90% of cases; with the strength and the scale of rho_env learnt (the model's default priors), nearly so.

# %%
import numpy as np
import pandas as pd

from icb_pymc import fit, simulate
from icb_pymc.assess.convergence import rank_rhat
from icb_pymc.assess.metrics import belief_error, coverage, reward_error
from icb_pymc.environments.semi_synthetic import semi_synthetic
from icb_pymc.models.b_icb import paper
from icb_pymc.results.inference_data import group

STRENGTH = 10.0
rows = []
for seed in range(5):
    arrivals = semi_synthetic(500, 2, seed)
    features = arrivals.sizes["feature"]
    rng = np.random.default_rng(1000 + seed)
    arrivals["true_rho_env"] = ("feature", rng.normal(-1 / features, 2 / features, size=features))
    decisions = simulate("sampling", arrivals=arrivals, random_seed=seed, hyperparameters={"strength": STRENGTH})
    known = paper(decisions).hyperparameters
    posterior = fit(
        "b_icb",
        decisions,
        hyperparameters=known | {"strength": STRENGTH, "rho_env_covariance": (2 / features) ** 2},
        draws=500,
        tune=500,
        chains=2,
        random_seed=seed,
        progressbar=False,
    )
    learnt = fit("b_icb", decisions, known, draws=500, tune=500, chains=2, random_seed=seed, progressbar=False)
    em = fit("b_icb", decisions, preset="paper", random_seed=seed, progressbar=False)
    rows.append(
        {
            "seed": seed,
            "covers rho_env": coverage(posterior, "rho_env", ci_prob=0.9),
            "... strength learnt  ": coverage(learnt, "rho_env", ci_prob=0.9),
            "covers belief": coverage(posterior, "belief", ci_prob=0.9),
            "worst R-hat": float(rank_rhat(group(posterior, "posterior")["rho_env"]).max()),
            "belief error": belief_error(posterior),
            "... strength learnt": belief_error(learnt),
            "... EM": belief_error(em),
            "reward error": reward_error(posterior),
            "... strength learnt ": reward_error(learnt),
            "... EM ": reward_error(em),
            "strength": float(group(learnt, "posterior")["strength"].median()),
            "... EM  ": float(group(em, "em_path")["strength"][-1]),
        }
    )
    print(pd.DataFrame(rows[-1:]).round(3).to_string(index=False, header=seed == 0), flush=True)

# %%
print(pd.DataFrame(rows).drop(columns="seed").mean().round(3).to_string())
