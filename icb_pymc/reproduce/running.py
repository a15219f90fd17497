"""Do the missing runs: each is stored as soon as it is finished, and a failing run does not stop the others."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from icb_pymc.io.tasks import run_tasks
from icb_pymc.io.workers import StartWorkers
from icb_pymc.reproduce.store import Store
from icb_pymc.reproduce.unit import Unit
from icb_pymc.reproduce.work import group_into_tasks, run_task
from icb_pymc.sample.in_worker import FitOutcome

Task = tuple[Unit, ...]


class Failure(NamedTuple):
    """A unit that could not be run, and why."""

    unit: Unit
    error: str


def run_missing(
    units: Sequence[Unit], store: Store, start_workers: StartWorkers, advance: Callable[[Unit], None]
) -> list[Failure]:
    """Run the units that are not in the store.

    Parameters
    ----------
    units : sequence of Unit
    store : Store
        Each result is written as soon as the run is finished.
    start_workers : callable
        Called again if the workers die.
    advance : callable
        Called with each unit that is finished or has failed.

    Returns
    -------
    list of Failure
    """
    failures: list[Failure] = []

    def receive(task: Task, results: Sequence[FitOutcome]) -> None:
        for unit, result in zip(task, results, strict=True):
            if result.content is None:
                failures.append(Failure(unit, result.error or "unknown"))
            else:
                store.keep(unit, result.content)
            advance(unit)

    run_tasks(
        group_into_tasks(unit for unit in units if not store.has(unit)),
        lambda executor, task: executor.submit(run_task, task),
        start_workers,
        receive,
        lambda task, error: receive(task, [FitOutcome(None, error)] * len(task)),
    )
    return failures
