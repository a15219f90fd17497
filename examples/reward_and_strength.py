# %% [markdown]
# # Why is B-ICB's posterior mean further from the reward parameter than EM as published?
#
# Table 3 of `icb reproduce --preset exact` shows this. B-ICB learns two things: the reward parameter rho_env, and the
# strength s of the first belief (the agents have s = 10). An agent that learns slowly (large s) about a distant rho_env
# makes much the same choices as one that learns quickly about a near one, so the prior decides between them. The prior
# N(-1/k, (2/k)^2 I) is meant for any rho_env; that of the agents is only 0.48/k from -1/k in each direction. Hence four
# fits: s learnt or given, under that prior or under one as wide as the distance of the truth. EM as published starts
# from s = 1, changes log s by about 0.02 per iteration and stops after 100 iterations: near the true strength, although
# the likelihood is still increasing.

# %%
import pandas as pd

from icb_pymc import fit
from icb_pymc.assess.metrics import reward_error, unit_weights
from icb_pymc.reproduce.log import Log, decisions_of_log
from icb_pymc.results.inference_data import group

STOPS = (100, 300)
rows = []
for agent in ("sampling", "greedy", "linear"):
    for seed in range(2):
        decisions = decisions_of_log(Log(agent, 500, 2, seed))
        truth = unit_weights(decisions["true_rho_env"])
        row = {"agent": agent, "seed": seed}
        for width in (2.0, 0.5):
            for strength in (None, 10.0):
                trace = fit(
                    "b_icb",
                    decisions,
                    hyperparameters={
                        "strength": strength,
                        "rho_env_covariance": (width / decisions.sizes["feature"]) ** 2,
                    },
                    draws=500,
                    chains=2,
                    random_seed=seed,
                    progressbar=False,
                )
                row[f"{width:g}/k, s {'learnt' if strength is None else 'given'}"] = reward_error(trace)
                if strength is None:
                    row[f"{width:g}/k, median s"] = float(group(trace, "posterior")["strength"].median())
        em = fit("b_icb", decisions, preset="paper", iterations=max(STOPS), draws=500, tune=500, random_seed=seed)
        path = group(em, "em_path")
        for stop in STOPS:
            at = path.sel(iteration=stop)
            row[f"EM {stop}"] = float(abs(unit_weights(at["rho_env"]) - truth).sum())
            row[f"EM {stop}, s"] = float(at["strength"])
        rows.append(row)
        print(pd.DataFrame(rows[-1:]).round(3).to_string(index=False, header=len(rows) == 1), flush=True)

# %%
print(pd.DataFrame(rows).drop(columns="seed").groupby("agent", sort=False).mean().round(3).T.to_string())
