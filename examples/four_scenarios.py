# %% [markdown]
# How often is a verdict of `icb_pymc.impact` right? Simulated logs of 2,000 decisions among two candidates with four
# features and an event half-way, after which nothing changes, one weight rises, one weight changes its sign, or all
# choices become sharper. The irrelevant feature `d` never counts. In a fifth scenario, one weight drifts through the
# event, which is a change, but not a step at the event.

# %%
import numpy as np

from icb_pymc import fit, from_arrays, impact

STEPS, DRAWS, SEEDS = 2000, 1000, 30
FEATURES = ["a", "b", "c", "d"]
# Weights before and after the event.
SCENARIOS = {
    "nothing": ([1.0, 0.5, 0.5, 0.0], [1.0, 0.5, 0.5, 0.0]),
    "rise of c": ([1.0, 0.5, 0.3, 0.0], [1.0, 0.5, 1.0, 0.0]),
    "flip of c": ([1.0, 0.5, 0.5, 0.0], [1.0, 0.5, -0.5, 0.0]),
    "sharper": ([0.6, 0.3, 0.3, 0.0], [1.2, 0.6, 0.6, 0.0]),
    "drift of c": ([1.0, 0.5, 0.3, 0.0], [1.0, 0.5, 1.0, 0.0]),
}
# What each scenario's verdict should be.
ACCOUNTS = {"nothing": "no change", "drift of c": "drift"}


def simulated(name, weights, seed):
    """Decisions by softmax of these weights before and after the event, or of a drift from one to the other."""
    rng = np.random.default_rng(seed)
    context = rng.normal(size=(STEPS, 2, len(FEATURES)))
    path = np.repeat(np.array(weights), STEPS // 2, axis=0)
    if name == "drift of c":
        path = np.linspace(*weights, STEPS)
    utility = np.einsum("tak,tk->ta", context, path) + rng.gumbel(size=(STEPS, 2))
    return from_arrays(context, utility.argmax(axis=1), features=FEATURES)


# %% NB-ICB as it is by default: weights in log-odds, and scales that are learnt.
print(
    f"{'scenario':12}{'true changes called clear':>27}{'false clear, per feature':>26}{'called sharper':>16}"
    f"{'right account':>15}"
)
for name, weights in SCENARIOS.items():
    true_change = np.sign(np.subtract(*weights[::-1]))
    hits, false, sharper, accounts = [], [], [], []
    for seed in range(SEEDS):
        decisions = simulated(name, weights, seed)
        options = {"method": "laplace", "draws": DRAWS, "every": 10, "random_seed": seed, "progressbar": False}
        result = impact(fit("nb_icb", decisions, **options), STEPS // 2 + 1)
        rows = result.table.loc[0]
        clear = (rows["verdict"] == "clear").to_numpy() * np.sign(rows["change"].to_numpy())
        hits += list((clear == true_change)[true_change != 0])
        false += list((clear != 0)[true_change == 0])
        row = result.decisiveness.loc[0]
        sharper.append(row["verdict"] == "clear" and row["common"] > 0.8)
        accounts.append(result.accounts[0].best == ACCOUNTS.get(name, "step"))
    right = f"{np.mean(hits):.0%}" if hits else "-"
    print(f"{name:12}{right:>27}{np.mean(false):>26.1%}{np.mean(sharper):>16.0%}{np.mean(accounts):>15.0%}", flush=True)
