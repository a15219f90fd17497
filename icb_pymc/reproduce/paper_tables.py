"""The tables of the paper: which ones there are, the runs they are made of, and their numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from icb_pymc.assess.convergence import HIGHEST_RHAT
from icb_pymc.reproduce.algorithms import Algorithm
from icb_pymc.reproduce.log import Log
from icb_pymc.reproduce.published import published
from icb_pymc.reproduce.scale import Scale
from icb_pymc.reproduce.store import Store
from icb_pymc.reproduce.unit import Unit, make_unit

FOLDS = ("B-IRL", "5-fold IRL", "10-fold IRL", "T-fold IRL", "5-fold CP-IRL", "10-fold CP-IRL")
BELIEFS = ("Baseline", *FOLDS, "B-ICB", "NB-ICB")
FINAL_BELIEF = "B-ICB, final belief"
# Rows that are another estimate from the runs of another row: that row, and the score.
OTHER_ESTIMATES = {FINAL_BELIEF: ("B-ICB", "final_belief")}
# Measured by examples/reward_and_strength.py.
STRENGTH_AND_REWARD = (
    "B-ICB learns the strength of the first belief and the scale of the reward parameter together with the reward "
    "parameter. An agent that learns slowly about a distant reward parameter makes much the same choices as one that "
    "learns quickly about a near one, so the priors of the two decide between them. The strength of agents "
    "that do not learn by equation 1 is overestimated, and their reward parameter extrapolated. The belief after the "
    "last decision, of the same runs, is an estimate that goes no further than the agent went; it counts as B-ICB "
    "below."
)
# An advantage that CP-IRL has here and not in the paper.
TRUE_SEGMENTS = (
    "This agent's weights are constant between changes, as CP-IRL assumes, and here CP-IRL finds the changes by the "
    "evidence of segments instead of their likelihood."
)


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper.

    Attributes
    ----------
    number : int
    title : str
    score : {"belief", "reward", "action"}
        The error that it shows.
    algorithms : tuple of str
        Labels of its rows.
    quadratic : bool
        Whether the agents' rewards are quadratic.
    agent : str, optional
        The only column, if the table has one column.
    added : tuple of str
        Labels of rows that the paper does not have, below its own; under the preset `exact` only.
    user_algorithms : tuple of Algorithm
        Rows for user-defined models, below those of the paper.
    """

    number: int
    title: str
    score: str
    algorithms: tuple[str, ...]
    quadratic: bool = False
    agent: str | None = None
    added: tuple[str, ...] = ()
    user_algorithms: tuple[Algorithm, ...] = ()

    def units(self, preset: str, scale: Scale) -> list[Unit]:
        """The runs it is made of; those on the same log are adjacent."""
        logs = [self._log(agent, seed, preset, scale) for agent in self.agents(scale) for seed in range(scale.seeds)]
        labels = [label for label in self.labels(preset) if label not in OTHER_ESTIMATES]
        rows: list[str | Algorithm] = [*labels, *self.user_algorithms]
        return [make_unit(row, log, preset, scale) for log in logs for row in rows]

    def labels(self, preset: str) -> tuple[str, ...]:
        """Labels of the rows, without user-defined models; other estimates where there are runs to take them from."""
        sources = {label: row for label, (row, _) in OTHER_ESTIMATES.items()}
        added = [label for label in self.added if sources.get(label) in (None, *self.algorithms)]
        return self.algorithms + (tuple(added) if preset == "exact" else ())

    def note(self, preset: str) -> str:
        """Which estimates are compared with the truth."""
        if preset == "paper":
            estimates = "Estimates are means of the draws of the published samplers"
            if self.score == "reward":
                estimates = (
                    "As published, estimates are means of draws (B-IRL, I-SPI) or point estimates (T-REX, B-ICB by EM)"
                )
        else:
            estimates = "Estimates are posterior means" + (
                " (a point estimate for T-REX)" if "T-REX" in self.algorithms else ""
            )
        scaled = "scaled to unit L1 norm" + ("" if self.score == "reward" else " at each time")
        note = f"Preset {preset}. {estimates}, {scaled} before they are compared with the truth."
        if preset == "exact" and "B-ICB" in self.algorithms and self.score == "reward":
            note += f" {STRENGTH_AND_REWARD}"
        if preset == "exact" and self.agent == "switching":
            note += f" {TRUE_SEGMENTS}"
        return note

    def agents(self, scale: Scale) -> tuple[str, ...]:
        """The agents of its columns."""
        return scale.agents if self.agent is None else (self.agent,)

    def _log(self, agent: str, seed: int, preset: str, scale: Scale) -> Log:
        steps = scale.long_steps if agent == "switching" else scale.steps
        # The published Optimistic agent added its bonus without scaling it by alpha.
        settings: tuple[tuple[str, Any], ...] = (("scaled_bonus", False),) if agent == "optimistic" else ()
        return Log(agent, steps, 2, seed, self.quadratic, settings if preset == "paper" else ())


TABLES = {
    table.number: table
    for table in (
        PaperTable(2, "Mean error of belief estimates", "belief", BELIEFS),
        PaperTable(
            3,
            "Mean error of estimates of the reward parameter",
            "reward",
            ("Baseline", "B-IRL", "I-SPI", "T-REX", "B-ICB"),
            added=(FINAL_BELIEF,),
        ),
        PaperTable(4, "Action matching: KL divergence of estimated from true choice probabilities", "action", BELIEFS),
        PaperTable(5, "Misspecification: mean error of belief estimates, quadratic agents", "belief", BELIEFS, True),
        PaperTable(
            6,
            "Sudden changes: mean error of belief estimates",
            "belief",
            (*FOLDS, "NB-ICB"),
            agent="switching",
            added=("Shrinkage NB-ICB",),
        ),
    )
}


def table_rows(table: PaperTable, preset: str, scale: Scale, store: Store) -> pd.DataFrame:
    """Our numbers and the paper's, one row per cell in the order of the table.

    Columns: algorithm, agent, mean and standard deviation (`sd`) over the seeds that are in the store, their number
    `seeds`, the number of runs with several `chains`, how many of these have not converged (`not_converged`: R-hat
    above 1.05), whether the mean is the `best` (lowest) for its agent, and the same for the paper (`paper_mean`, ...).
    A cell without a run has no mean.
    """
    scored = [(unit.algorithm.label, table.score, unit, store.scores(unit)) for unit in table.units(preset, scale)]
    for label in set(table.labels(preset)) & set(OTHER_ESTIMATES):
        row, score = OTHER_ESTIMATES[label]
        scored += [(label, score, unit, scores) for name, _, unit, scores in scored if name == row]
    runs = pd.DataFrame(
        {
            "algorithm": [label for label, *_ in scored],
            "agent": [unit.log.agent for _, _, unit, _ in scored],
            "score": np.array([scores.get(score) for _, score, _, scores in scored], dtype=float),
            # Of each run once.
            "rhat": np.array(
                [None if label in OTHER_ESTIMATES else scores.get("rhat") for label, *_, scores in scored], dtype=float
            ),
        }
    )
    cells = runs.groupby(["algorithm", "agent"], sort=False)
    rows = cells.agg(
        mean=("score", "mean"),
        # As in the paper: the spread of these runs, not an estimate of the spread of all possible runs.
        sd=("score", lambda scores: scores.std(ddof=0) if scores.count() > 1 else np.nan),
        seeds=("score", "count"),
        chains=("rhat", "count"),
        not_converged=("rhat", lambda rhats: int((rhats > HIGHEST_RHAT).sum())),
    )
    labels = [*table.labels(preset), *(algorithm.label for algorithm in table.user_algorithms)]
    order = pd.MultiIndex.from_product([labels, table.agents(scale)], names=["algorithm", "agent"])
    rows = rows.reindex(order)
    theirs = published().loc[table.number].reindex(order)
    rows["paper_mean"], rows["paper_sd"] = theirs["mean"], theirs["sd"]
    for which, mean in (("best", "mean"), ("paper_best", "paper_mean")):
        rows[which] = rows[mean] == rows.groupby("agent")[mean].transform("min")
    return rows.reset_index()


def disagreements(rows: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Agents for which the best algorithm differs from the paper's: the best here, and the best in the paper."""
    differing = {}
    for agent, column in rows.groupby("agent", sort=False):
        ours, theirs = (list(column["algorithm"][column[which]]) for which in ("best", "paper_best"))
        if ours and theirs and not {OTHER_ESTIMATES.get(label, (label,))[0] for label in ours} & set(theirs):
            differing[str(agent)] = (" and ".join(ours), " and ".join(theirs))
    return differing
