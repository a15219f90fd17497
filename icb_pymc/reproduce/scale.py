"""How large the runs are: as in the paper, or small enough to see the whole flow."""

from dataclasses import dataclass, field
from typing import Any

AGENTS = ("stationary", "sampling", "optimistic", "greedy", "stepping", "linear", "regressing")


@dataclass(frozen=True)
class Scale:
    """Sizes of the runs.

    Attributes
    ----------
    agents : tuple of str
        Of the tables with a column for each.
    seeds : int
        Runs per cell.
    steps, long_steps : int
        Decisions of the semi-synthetic logs, and of the sudden changes and the history.
    exact, exact_learning, paper : dict
        Given to `fit` under each preset, under `exact` of its own to a model that learns hyperparameters too; nothing
        where the preset itself says it.
    kept, long_kept : (int, int)
        About how many draws, and at how many times, a finished run keeps; errors are taken from all beforehand. The
        long logs are those that are drawn.
    """

    agents: tuple[str, ...] = AGENTS
    seeds: int = 5
    steps: int = 500
    long_steps: int = 2_500
    # The engine's draws are near independent: a thousand leave the posterior mean 30 times as sharp as the posterior.
    exact: dict[str, Any] = field(default_factory=lambda: {"draws": 500, "tune": 300, "chains": 2})
    # Hyperparameters move by a random walk, of which ten steps are worth about one.
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
