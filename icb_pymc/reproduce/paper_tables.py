"""The tables of the paper: which there are, from which runs they are made, and their figures."""

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
# Measured by examples/reward_and_strength.py.
STRENGTH_AND_REWARD = (
    "B-ICB learns the strength of the first belief along with the reward parameter. One who learns slowly of a reward "
    "parameter far away makes much the same choices as one who learns quickly of a near one, and its prior, whose "
    "standard deviation is 2/k, expects it four times as far from -1/k as it is: the posterior mean lies too far out. "
    "EM as published stops while the strength is still small."
)
# What CP-IRL has here and not in the paper.
TRUE_SEGMENTS = (
    "This agent's weights are constant between two changes, as CP-IRL supposes, and here CP-IRL finds changes by the "
    "evidence of segments, not by their likelihood."
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
        Its lines.
    quadratic : bool
        Whether the agents' rewards are.
    agent : str, optional
        Of a table of one column.
    own : tuple of Algorithm
        Lines for models of one's own, below those of the paper.
    """

    number: int
    title: str
    score: str
    algorithms: tuple[str, ...]
    quadratic: bool = False
    agent: str | None = None
    own: tuple[Algorithm, ...] = ()

    def units(self, preset: str, scale: Scale) -> list[Unit]:
        """The runs it is made of, those on one log after each other."""
        logs = [self._log(agent, seed, preset, scale) for agent in self.agents(scale) for seed in range(scale.seeds)]
        lines: list[str | Algorithm] = [*self.algorithms, *self.own]
        return [make_unit(line, log, preset, scale) for log in logs for line in lines]

    def note(self, preset: str) -> str:
        """Which estimates the errors are of."""
        if preset == "paper":
            estimates = "Estimates are means of the draws of the published samplers"
            if self.score == "reward":
                estimates = "Estimates are means of draws (B-IRL, I-SPI) or points (T-REX; B-ICB, by EM), as published"
        else:
            estimates = "Estimates are posterior means" + (", of T-REX a point" if "T-REX" in self.algorithms else "")
        scaled = "scaled to unit L1 norm" + ("" if self.score == "reward" else " at each time")
        note = f"Preset {preset}. {estimates}, {scaled} before they are compared with the truth."
        if preset == "exact" and "B-ICB" in self.algorithms and self.score == "reward":
            note += f" {STRENGTH_AND_REWARD}"
        if preset == "exact" and self.agent == "switching":
            note += f" {TRUE_SEGMENTS}"
        return note

    def agents(self, scale: Scale) -> tuple[str, ...]:
        """Its columns."""
        return scale.agents if self.agent is None else (self.agent,)

    def _log(self, agent: str, seed: int, preset: str, scale: Scale) -> Log:
        steps = scale.long_steps if agent == "switching" else scale.steps
        # The published Optimistic added its bonus without scaling it by alpha.
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
        ),
        PaperTable(4, "Action matching: KL divergence of estimated from true choice probabilities", "action", BELIEFS),
        PaperTable(5, "Misspecification: mean error of belief estimates, quadratic agents", "belief", BELIEFS, True),
        PaperTable(
            6, "Sudden changes: mean error of belief estimates", "belief", (*FOLDS, "NB-ICB"), agent="switching"
        ),
    )
}


def figures_of(table: PaperTable, preset: str, scale: Scale, store: Store) -> pd.DataFrame:
    """Our figures and the paper's, one row per cell in the order of the table.

    Columns: algorithm, agent, mean and standard deviation (`sd`) over the seeds that are there, their number `seeds`,
    how many of the runs have several `chains`, and of these how many have chains that have not met (`unmet`: the worst
    R-hat is above 1.05), whether the mean is the `best` (lowest) for its agent, and the same of the paper
    (`paper_mean`, ...); a cell without a run has no mean.
    """
    found = [(unit, store.scores(unit)) for unit in table.units(preset, scale)]
    runs = pd.DataFrame(
        {
            "algorithm": [unit.algorithm.label for unit, _ in found],
            "agent": [unit.log.agent for unit, _ in found],
            "score": np.array([scores.get(table.score) for _, scores in found], dtype=float),
            "rhat": np.array([scores.get("rhat") for _, scores in found], dtype=float),
        }
    )
    cells = runs.groupby(["algorithm", "agent"], sort=False)
    rows = cells.agg(
        mean=("score", "mean"),
        # As in the paper, which reports how the five runs spread, not how well five tell the spread of all.
        sd=("score", lambda of_runs: of_runs.std(ddof=0) if of_runs.count() > 1 else np.nan),
        seeds=("score", "count"),
        chains=("rhat", "count"),
        unmet=("rhat", lambda of_runs: int((of_runs > HIGHEST_RHAT).sum())),
    )
    labels = [*table.algorithms, *(runs.label for runs in table.own)]
    order = pd.MultiIndex.from_product([labels, table.agents(scale)], names=["algorithm", "agent"])
    rows = rows.reindex(order)
    theirs = published().loc[table.number].reindex(order)
    rows["paper_mean"], rows["paper_sd"] = theirs["mean"], theirs["sd"]
    for which, mean in (("best", "mean"), ("paper_best", "paper_mean")):
        rows[which] = rows[mean] == rows.groupby("agent")[mean].transform("min")
    return rows.reset_index()


def disagreements(rows: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Agents for whom another algorithm is best here than in the paper: the one here and the one there."""
    found = {}
    for agent, column in rows.groupby("agent", sort=False):
        ours, theirs = (list(column["algorithm"][column[which]]) for which in ("best", "paper_best"))
        if ours and theirs and not set(ours) & set(theirs):
            found[str(agent)] = (" and ".join(ours), " and ".join(theirs))
    return found
