# %% [markdown]
# # A harder benchmark: who wins if the agents are not all alike?
#
# In the benchmark of the paper the reward parameter is one vector, every learner begins with the same strength, every
# log has 500 decisions, and Optimistic and Greedy make the same choices. Here each seed draws, independently,
#
# - the number of decisions T: log-uniform from 100 to 1,000;
# - the strength of a learner's first belief: log-uniform from 0.002 T to 0.2 T; that of Optimistic, whose bonus counts
#   only while it is uncertain, is 0.002 T;
# - the noise of a reward, alpha sigma: log-uniform from 1 to 8 log-odds (the paper: 2). It decides how far an agent
#   that acts on a draw strays from its belief, and how much a bonus for uncertainty counts;
# - how far rho_env is from -1/k: Gaussian in each feature, with a standard deviation, log-uniform from 0.8 to 3.2
#   log-odds per typical difference between two candidates (the paper: 1.7), that the features share;
# - where Stepping steps and Regressing turns (uniform from 0.2 to 0.8 T), the share of rho_env that Regressing keeps
#   (uniform from 0 to 0.5), and how much of its knowledge Forgetting keeps from one decision to the next.
#
# All agents of a seed meet the same candidates, and all algorithms the same logs, so that algorithms are compared by
# paired differences. As in the tables of the paper they know alpha and the mean -1/k, but not sigma. Defaults may be
# chosen on seeds from 100 (`--chosen-on`); this prints others. For a quick look: `--seeds 1`.

# %%
import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from icb_pymc import average, fit, metrics, simulate
from icb_pymc.data.standardisation import contrast_spread
from icb_pymc.environments.semi_synthetic import semi_synthetic

parser = argparse.ArgumentParser()
parser.add_argument("--seeds", type=int, default=4, help="logs of each agent")
parser.add_argument("--steps", type=int, nargs=2, default=(100, 1000), help="the fewest and the most decisions")
parser.add_argument("--chosen-on", action="store_true", help="use the seeds that defaults may be chosen on")
options, _ = parser.parse_known_args()
SEEDS = range(100, 100 + options.seeds) if options.chosen_on else range(options.seeds)
ALPHA = 20.0
FORGETTING = Path(__file__).parent / "models" / "forgetting.py"
AGENTS = ("stationary", "sampling", "optimistic", "greedy", "forgetting", "stepping", "linear", "regressing")
LEARNERS = ("sampling", "optimistic", "greedy", "forgetting")
FIT = {"draws": 600, "tune": 200, "chains": 1, "progressbar": False}


def logs_of(seed):
    """Decisions of each agent in the setting that this seed draws."""
    rng = np.random.default_rng([16, seed])

    def log_uniform(low, high):
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    steps = round(log_uniform(*options.steps))
    arrivals = semi_synthetic(steps, 2, seed)
    sigma, strength = log_uniform(1, 8) / ALPHA, log_uniform(0.002, 0.2) * steps
    unit = log_uniform(0.8, 3.2) / (ALPHA * contrast_spread(arrivals))
    arrivals["true_rho_env"] = ("feature", -1 / len(unit) + unit * rng.standard_normal(len(unit)))
    settings = {agent: {"sigma": sigma} for agent in AGENTS}
    for agent in LEARNERS:
        settings[agent]["strength"] = strength
    settings["optimistic"]["strength"] = 0.002 * steps
    settings["forgetting"]["memory"] = 1 - log_uniform(0.002, 0.05)
    settings["stepping"]["step_at"] = rng.uniform(0.2, 0.8)
    settings["regressing"] |= {"turn_at": rng.uniform(0.2, 0.8), "gamma": rng.uniform(0, 0.5)}
    return {
        agent: simulate(FORGETTING if agent == "forgetting" else agent, given, arrivals=arrivals, random_seed=seed)
        for agent, given in settings.items()
    }


def traces_of(log, seed):
    """A trace of each algorithm."""
    k = log.sizes["feature"]
    walk, weights = {"start_mean": -1 / k}, {"prior_mean": -1 / k, "prior_covariance": (2 / k) ** 2}
    algorithms = {
        "B-IRL": ("b_irl", weights),
        "5-fold CP-IRL": ("cp_irl", {"segments": 5} | weights),
        "NB-ICB": ("nb_icb", walk),
        "B-ICB": ("b_icb", walk | {"rho_env_mean": -1 / k}),
    }
    traces = {
        label: fit(model, log, {"alpha": ALPHA} | given, random_seed=seed, **FIT)
        for label, (model, given) in algorithms.items()
    }
    return traces | {"average": average({label: traces[label] for label in ("B-ICB", "NB-ICB")}, score="ahead")}


# %%
rows, rewards, differ = [], [], []
for seed in SEEDS:
    logs = logs_of(seed)
    differ.append(float((logs["optimistic"]["chosen"] != logs["greedy"]["chosen"]).mean()))
    for agent, log in logs.items():
        traces = traces_of(log, seed)
        errors = {label: metrics.belief_error(trace) for label, trace in traces.items()}
        rows.append({"agent": agent, "seed": seed} | errors)
        row = {"agent": agent} | {label: metrics.reward_error(traces[label]) for label in ("B-IRL", "B-ICB")}
        row["final belief"] = metrics.reward_error(traces["B-ICB"], variable="final_belief")
        rewards.append(row | {"covered by 90%": metrics.coverage(traces["B-ICB"], "rho_env", ci_prob=0.9)})
    print(f"seed {seed}: {log.sizes['time']} decisions done", flush=True)


# %% The best algorithm of each agent, and how far behind the others are on the same logs.
def against_best(errors):
    """Each algorithm's mean error, and the mean and standard error of its paired differences from the best."""
    means = errors.mean()
    behind = errors.sub(errors[means.idxmin()], axis=0)
    se = behind.std(ddof=1) / len(behind) ** 0.5
    return {
        label: f"{means[label]:.3f}" + ("" if label == means.idxmin() else f" (+{gap:.3f}, se {se[label]:.3f})")
        for label, gap in behind.mean().items()
    }


runs = pd.DataFrame(rows).set_index(["seed", "agent"])
table = {agent: against_best(runs.xs(agent, level="agent")) for agent in AGENTS}
# Logs of one seed have the candidates and rho_env in common, so that the seeds are what is independent.
table["mean of all"] = against_best(runs.groupby("seed").mean())
print("\nBelief errors (in brackets: more than the best of the row, on the same logs)")
print(pd.DataFrame(table).T.to_string())
print("\nReward errors, and the share of weights of rho_env that 90% intervals of B-ICB cover")
print(pd.DataFrame(rewards).groupby("agent", sort=False).mean().round(3).to_string())
print(f"\nOptimistic and Greedy choose differently in {np.mean(differ):.0%} of decisions (at most {max(differ):.0%})")
