"""Do the missing runs: each is stored as soon as it is finished, and a failing run does not stop the others."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import NamedTuple

from icb_pymc.reproduce.store import Store
from icb_pymc.reproduce.unit import Unit
from icb_pymc.reproduce.work import UnitResult, group_into_tasks, run_task
from icb_pymc.reproduce.workers import StartWorkers

DIED = "its process died twice, the second time with no other run in progress: it was killed, or ran out of memory."
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

    def receive(task: Task, results: Sequence[UnitResult]) -> None:
        for unit, result in zip(task, results, strict=True):
            if result.content is None:
                failures.append(Failure(unit, result.error or "unknown"))
            else:
                store.keep(unit, result.content)
            advance(unit)

    waiting = deque(group_into_tasks(unit for unit in units if not store.has(unit)))
    suspects: deque[Task] = deque()
    while waiting or suspects:
        with start_workers() as workers:
            if suspects:
                # When a process dies, all tasks in flight are lost. Run alone, each shows whether it was the cause.
                suspect = suspects.popleft()
                if _run_tasks(workers.executor, deque([suspect]), 1, receive):
                    receive(suspect, [UnitResult(None, DIED)] * len(suspect))
            else:
                suspects.extend(_run_tasks(workers.executor, waiting, workers.slots or len(waiting), receive))
    return failures


def _run_tasks(
    executor: Executor, waiting: deque[Task], slots: int, receive: Callable[[Task, Sequence[UnitResult]], None]
) -> list[Task]:
    """Run tasks, `slots` at a time, until all are done or the executor breaks; return those lost in flight."""
    in_flight: dict[Future[list[UnitResult]], Task] = {}
    lost: list[Task] = []
    while (waiting and not lost) or in_flight:
        while waiting and len(in_flight) < slots and not lost:
            task = waiting.popleft()
            try:
                in_flight[executor.submit(run_task, task)] = task
            except BrokenExecutor:
                lost.append(task)
        done, _ = wait(in_flight, return_when=FIRST_COMPLETED)
        for future in done:
            task = in_flight.pop(future)
            try:
                results = future.result()
            except BrokenExecutor:
                lost.append(task)
                continue
            except Exception as error:
                # An error of the executor itself, such as Dask's after the workers of a task died repeatedly.
                results = [UnitResult(None, f"{type(error).__name__}: {error}")] * len(task)
            receive(task, results)
    return lost
