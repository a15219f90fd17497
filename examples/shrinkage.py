# %% [markdown]
# # Beliefs that mostly stand still and sometimes jump
#
# NB-ICB's walk moves a little at each decision; the shrinkage walk stands still or jumps; the posterior over divisions
# (`icb_pymc.changes`) and CP-IRL know constant weights between changes only. Which of them finds the beliefs of agents
# that never change, change once, drift, or change suddenly? And does the interval of `icb_pymc.impact` around the date
# of a step contain its size?
#
# "alpha and centre known" is the setting of the paper's tables: alpha = 20, and the mean of the first weights is -1/k
# (in the sudden changes 0, since weights there have either sign). CP-IRL always knows both, and the covariance
# (2/k)^2 I. The defaults of the models know neither. For more logs: `python shrinkage.py --logs 5 --step-logs 20`.

# %%
import argparse
import sys

import numpy as np
import pandas as pd

from icb_pymc import changes, fit, from_arrays, impact
from icb_pymc.assess.metrics import unit_weights
from icb_pymc.declare.change_points import score_segments
from icb_pymc.models.nb_icb import paper
from icb_pymc.reproduce.algorithms import EITHER_SIGN, prior_of_weights
from icb_pymc.reproduce.log import Log, decisions_of_log
from icb_pymc.results.inference_data import group

parser = argparse.ArgumentParser()
parser.add_argument("--logs", type=int, default=1, help="logs of each agent")
parser.add_argument("--step-logs", type=int, default=2, help="logs with a step for `impact`")
parser.add_argument("--first-seed", type=int, default=0, help="the defaults were chosen on seeds from 100")
parser.add_argument(
    "--steps", type=int, default=500, help="decisions of an agent; five times as many if suddenly changed"
)
parser.add_argument("--step-decisions", type=int, default=2000, help="decisions of a log with a step")
parser.add_argument("--draws", type=int, default=500, help="of each chain")
parser.add_argument("--agents", default="stepping,stationary,sampling,linear,regressing,switching")
options, _ = parser.parse_known_args()
FIT = {"draws": options.draws, "tune": options.draws, "chains": 2, "log_likelihood": False, "progressbar": False}
WALKS = {"NB-ICB": "nb_icb", "shrinkage NB-ICB": "shrinkage_nb_icb"}


# %% The mean error of beliefs, as in Tables 2 and 6 of the paper.
def posterior_mean(model, decisions, settings, seed):
    """Mean beliefs (time, feature)."""
    trace = fit(model, decisions, settings, random_seed=seed, **FIT)
    return group(trace, "posterior")["belief"].mean(("chain", "draw"))


def mean_beliefs(log):
    """Pairs of a method and its beliefs, one after the other."""
    decisions = decisions_of_log(log)
    known = {"alpha": 20.0, "start_mean": 0.0}
    if log.agent not in EITHER_SIGN:
        known = {name: paper(decisions).hyperparameters[name] for name in known}
    for name, model in WALKS.items():
        yield f"{name}, default", posterior_mean(model, decisions, {}, log.seed)
        yield f"{name}, alpha and centre known", posterior_mean(model, decisions, known, log.seed)
    yield "changes, default", changes(decisions, random_seed=log.seed).mean_belief
    told = changes(decisions, alpha=known["alpha"], prior_mean=known["start_mean"], random_seed=log.seed)
    yield "changes, alpha and centre known", told.mean_belief
    prior = dict(prior_of_weights(log)) | {"length": 10}
    scores = score_segments(decisions, **prior)
    for name, segments in (("5-fold CP-IRL", 5), ("CP-IRL, number by evidence", scores.most_probable_number())):
        given = prior | {"segments": segments, "table": scores}
        yield name, posterior_mean("cp_irl", decisions, given, log.seed)


def error(beliefs, decisions):
    """Mean L1 distance of beliefs from the true ones, both of unit L1 norm."""
    difference = unit_weights(beliefs) - unit_weights(decisions["true_belief"])
    return float(abs(difference).sum("feature").mean("time"))


errors = {}
for seed in range(options.first_seed, options.first_seed + options.logs):
    for agent in filter(None, options.agents.split(",")):
        log = Log(agent, 5 * options.steps if agent == "switching" else options.steps, 2, seed)
        for method, beliefs in mean_beliefs(log):
            errors.setdefault((method, agent), []).append(error(beliefs, decisions_of_log(log)))
            print(f"{agent}, seed {seed}, {method}: {errors[method, agent][-1]:.3f}", file=sys.stderr, flush=True)
if errors:
    table = pd.Series({cell: np.mean(values) for cell, values in errors.items()}).unstack(sort=False)
    print(f"Mean error of beliefs, {options.logs} log(s) each")
    print(table.to_string(float_format="{:.3f}".format), flush=True)


# %% A step in the weight of `c`, half-way through decisions among two candidates with four features.
def with_step(size, seed):
    """Decisions, with a step of this size in log-odds per unit of `c`."""
    rng, half = np.random.default_rng(seed), options.step_decisions // 2
    context = rng.normal(size=(2 * half, 2, 4))
    ends = np.array([[1.0, 0.5, 0.5 - size / 2, 0.0], [1.0, 0.5, 0.5 + size / 2, 0.0]])
    utility = np.einsum("tak,tk->ta", context, np.repeat(ends, half, axis=0)) + rng.gumbel(size=(2 * half, 2))
    return from_arrays(context, utility.argmax(axis=1), features=["a", "b", "c", "d"])


def intervals(decisions, seed):
    """Method, windows, mean and 95% interval of the change of `c` around the step, one after the other."""
    half = decisions.sizes["time"] // 2
    windows = {"50 decisions": 50, "whole log": half}
    for name, model in WALKS.items():
        trace = fit(model, decisions, random_seed=seed, **FIT)
        for label, size in windows.items():
            row = impact(trace, half + 1, before=size, after=size, ci_prob=0.95).table.loc[(0, "c")]
            # From standard deviations of the feature to its unit.
            unit = row["per_unit"] / row["change"]
            yield name, label, row["per_unit"], unit * row["lower"], unit * row["upper"]
            if model == "nb_icb":
                yield (
                    "step at the known date",
                    label,
                    *(unit * row[part] for part in ("step", "step_lower", "step_upper")),
                )
    weights = changes(decisions, random_seed=seed).beliefs().values[0][:, :, 2]
    for label, size in windows.items():
        moved = weights[:, half : half + size].mean(axis=1) - weights[:, half - size : half].mean(axis=1)
        yield "changes", label, moved.mean(), *np.quantile(moved, [0.025, 0.975])


rows = {}
for seed in range(options.first_seed, options.first_seed + options.step_logs):
    for size in (1.0, 2.0):
        for method, label, mean, low, high in intervals(with_step(size, seed), seed):
            rows.setdefault((size, label, method), []).append((mean, high - low, low <= size <= high))
            print(f"step {size}, seed {seed}, {label}, {method}: {low:.2f} to {high:.2f}", file=sys.stderr, flush=True)
if rows:
    index = pd.MultiIndex.from_tuples(rows, names=["step", "windows", "method"])
    columns = ["mean change", "mean width", "covered"]
    table = pd.DataFrame([np.mean(values, axis=0) for values in rows.values()], index, columns)
    print(f"\n95% intervals of the change around a step, {options.step_logs} log(s) each")
    print(table.sort_index().to_string(float_format="{:.2f}".format))
