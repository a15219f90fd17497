"""The description of a log of decisions, from which any process can make the same log."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import xarray as xr

from icb_pymc.catalogue.model_files import digest_of
from icb_pymc.environments.allocation_history import allocation_history
from icb_pymc.environments.optn import prepare, read_raw
from icb_pymc.errors import InputError
from icb_pymc.io.files import existing
from icb_pymc.sample.simulation import default_arrivals, simulate

HISTORY = "history"


@dataclass(frozen=True)
class Log:
    """The description of a log of decisions.

    Attributes
    ----------
    agent : str
        Name of a model in the catalogue, or ``"history"`` for the decisions of the explainability study.
    steps, actions, seed : int
    quadratic : bool
        Whether the agent's rewards are quadratic.
    settings : tuple of (name, value)
        Hyperparameters of the agent that differ from its defaults.
    file, file_digest : str, optional
        A raw OPTN liver file instead of the synthetic history, and a hash of its contents: a file that changed is
        another log, one that moved is not.
    """

    agent: str
    steps: int
    actions: int
    seed: int
    quadratic: bool = False
    settings: tuple[tuple[str, Any], ...] = ()
    file: str | None = None
    file_digest: str | None = None

    @property
    def name(self) -> str:
        """A readable name, also part of file names."""
        suffix = f"-{self.file_digest[:8]}" if self.file_digest else ""
        return f"{self.agent}{'-quadratic' if self.quadratic else ''}{suffix}"


def history_log(steps: int, actions: int, seed: int, file: str | None = None) -> Log:
    """The log of the explainability study: the synthetic history, or a file of the user."""
    if file is None:
        return Log(HISTORY, steps, actions, seed)
    path = existing(file).resolve()
    return Log(HISTORY, steps, actions, seed, file=str(path), file_digest=digest_of(path))


# Cached: a process that runs several algorithms on one log makes it once.
@lru_cache(maxsize=2)
def decisions_of_log(log: Log) -> xr.Dataset:
    """Make the decisions that a log describes. Callers share the dataset and must not change it in place."""
    if log.agent == HISTORY:
        transplants = None
        if log.file is not None:
            if digest_of(log.file) != log.file_digest:
                raise InputError(f"{log.file} changed while it was in use; start again.")
            transplants = prepare(read_raw(log.file), log.file).transplants
        return allocation_history(log.steps, log.actions, log.seed, transplants)
    arrivals = default_arrivals(log.agent, steps=log.steps, actions=log.actions, seed=log.seed, quadratic=log.quadratic)
    return simulate(log.agent, seed=log.seed, arrivals=arrivals, hyperparameters=dict(log.settings))
