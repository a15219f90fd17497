"""How large the runs are: as in the paper, or small enough to go through every step in minutes."""

from dataclasses import dataclass, field
from typing import Any

AGENTS = ("stationary", "sampling", "optimistic", "greedy", "stepping", "linear", "regressing")


@dataclass(frozen=True)
class Scale:
    """Sizes of the runs.

    Attributes
    ----------
    agents : tuple of str
        Columns of the tables that have one for each agent.
    seeds : int
        Runs per cell.
    steps, long_steps : int
        Decisions in the semi-synthetic logs, and in the logs of the sudden changes and of the history.
    exact, exact_learning, paper : dict
        Options of `fit` under each preset; `exact_learning` is for models that also learn hyperparameters. Empty
        where the preset of `fit` sets them itself.
    kept, long_kept : (int, int)
        About how many draws, and at how many times, a finished run keeps; errors are computed from all draws and
        times beforehand. Long logs, which figures are drawn from, keep more.
    """

    agents: tuple[str, ...] = AGENTS
    seeds: int = 5
    steps: int = 500
    long_steps: int = 2_500
    # The engine's draws are nearly independent: with 1,000, the error of a posterior mean is 1/30 of the posterior sd.
    exact: dict[str, Any] = field(default_factory=lambda: {"draws": 500, "tune": 300, "chains": 2})
    # Hyperparameters move by a random walk, ten steps of which are worth about one independent draw.
    exact_learning: dict[str, Any] = field(default_factory=lambda: {"draws": 1500, "tune": 500, "chains": 2})
    paper: dict[str, Any] = field(default_factory=dict)
    kept: tuple[int, int] = (100, 125)
    long_kept: tuple[int, int] = (400, 250)


FULL = Scale()
QUICK = Scale(
    agents=("sampling", "stepping"),
    seeds=2,
    steps=120,
    long_steps=400,
    exact={"draws": 100, "tune": 100, "chains": 2},
    exact_learning={"draws": 200, "tune": 100, "chains": 2},
    paper={"draws": 100, "tune": 100, "iterations": 20},
    long_kept=(200, 200),
)
