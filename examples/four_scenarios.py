# %% [markdown]
# How often is a verdict of `icb_pymc.impact` right? Simulated logs of 2,000 decisions among two candidates with four
# features and an event half-way, after which nothing changes, one weight rises, one weight changes its sign, or all
# choices become sharper. The irrelevant feature `d` never counts. In a fifth scenario, one weight drifts through the
# event, which is a change, but not a step at the event.

# %%
from pathlib import Path

import numpy as np

from icb_pymc import fit, from_arrays, impact
from icb_pymc.assess.wording import is_all_sharper

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
# In these nothing happens at the event.
NO_STEP = ("nothing", "drift of c")
ACCOUNTS = ("step", "drift", "step or drift", "no change")
TABLE = Path(__file__).parent / "tables" / "four-scenarios.md"


def simulated(name, weights, seed):
    """Decisions by softmax of these weights before and after the event, or of a drift from one to the other."""
    rng = np.random.default_rng(seed)
    context = rng.normal(size=(STEPS, 2, len(FEATURES)))
    path = np.repeat(np.array(weights), STEPS // 2, axis=0)
    if name == "drift of c":
        path = np.linspace(*weights, STEPS)
    utility = np.einsum("tak,tk->ta", context, path) + rng.gumbel(size=(STEPS, 2))
    return from_arrays(context, utility.argmax(axis=1), features=FEATURES)


# %%
def is_right(name, result):
    """Whether the verdict says what happened: the change of `c` and no other, or that all choices became sharper."""
    table, overall, best = result.table.loc[0], result.decisiveness.loc[0], result.accounts[0].best
    clear = (table["verdict"] == "clear") * np.sign(table["change"]).astype(int)
    true = np.sign(np.subtract(*SCENARIOS[name][::-1])).astype(int)
    all_sharper = is_all_sharper(overall)
    if name == "sharper":
        return all_sharper and overall["ratio"] > 1 and clear["d"] == 0
    right_account = best != "step" if name in NO_STEP else best != "no change"
    return not all_sharper and right_account and (clear.to_numpy() == true).all()


# %% NB-ICB as it is by default: weights in log-odds, and scales that are learnt.
rows = []
for name, weights in SCENARIOS.items():
    unchanged = np.equal(*weights)
    right, hits, false, sharper, accounts = [], [], [], [], []
    for seed in range(SEEDS):
        decisions = simulated(name, weights, seed)
        options = {"method": "laplace", "draws": DRAWS, "every": 10, "random_seed": seed, "progressbar": False}
        result = impact(fit("nb_icb", decisions, **options), STEPS // 2 + 1)
        clear = (result.table.loc[0]["verdict"] == "clear").to_numpy()
        right.append(is_right(name, result))
        hits += list(clear[~unchanged])
        false += list(clear[unchanged])
        sharper.append(is_all_sharper(result.decisiveness.loc[0]))
        accounts.append(result.accounts[0].best)
    counts = [f"{np.mean([account == best for account in accounts]):.0%}" for best in ACCOUNTS]
    found = f"{np.mean(hits):.0%}" if hits else "-"
    rows.append([name, f"{np.mean(right):.0%}", found, f"{np.mean(false):.1%}", f"{np.mean(sharper):.0%}", *counts])
    print(" | ".join(rows[-1]), flush=True)

# %%
heading = [
    "",
    "right verdict",
    "true changes clear",
    "false clear, per feature",
    "all sharper",
    *ACCOUNTS,
]
lines = ["| " + " | ".join(row) + " |" for row in [heading, ["---"] * len(heading), *rows]]
table = f"""Verdicts of `icb_pymc.impact` on simulated logs of {STEPS} decisions with two candidates and four
features, an event half-way, {SEEDS} logs per scenario (seeds 0 to {SEEDS - 1}). Made by `examples/four_scenarios.py`.

{chr(10).join(lines)}

Right verdict: the weight that changed, and no other, is called clear and a change is supported (a step or drift);
nothing and drift: no step is claimed; sharper: all choices are said to have become sharper, and `d` not to have
changed. The last four columns say which account was best supported; "step or drift": neither has three quarters of the
probability of the two.
"""
print(table)
if __name__ == "__main__":
    TABLE.write_text(table, "utf-8")
