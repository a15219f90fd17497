"""Doing what is missing: finished runs are kept as they come, a failing one stops no other."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import NamedTuple

from icb_pymc.reproduce.store import Store
from icb_pymc.reproduce.unit import Unit
from icb_pymc.reproduce.work import Outcome, carry_out, tasks_of
from icb_pymc.reproduce.workers import StartWorkers

DIED = "its process died twice, the second time alone: it was killed, or ran out of memory."
Task = tuple[Unit, ...]


class Failure(NamedTuple):
    """A unit that could not be done, and why."""

    unit: Unit
    error: str


def run_missing(
    units: Sequence[Unit], store: Store, start_workers: StartWorkers, advance: Callable[[Unit], None]
) -> list[Failure]:
    """Do the units that the store does not have.

    Parameters
    ----------
    units : sequence of Unit
    store : Store
        Each run is written as soon as it is finished.
    start_workers : callable
        Called again if the workers break down.
    advance : callable
        Told of each unit that is finished or failed.

    Returns
    -------
    list of Failure
    """
    failures: list[Failure] = []

    def receive(task: Task, outcomes: Sequence[Outcome]) -> None:
        for unit, outcome in zip(task, outcomes, strict=True):
            if outcome.content is None:
                failures.append(Failure(unit, outcome.error or "unknown"))
            else:
                store.keep(unit, outcome.content)
            advance(unit)

    waiting = deque(tasks_of(unit for unit in units if not store.has(unit)))
    suspects: deque[Task] = deque()
    while waiting or suspects:
        with start_workers() as workers:
            if suspects:
                # When a process dies, all tasks in flight are lost. Alone, each shows whether it was the cause.
                suspect = suspects.popleft()
                if _do(workers.executor, deque([suspect]), 1, receive):
                    receive(suspect, [Outcome(None, DIED)] * len(suspect))
            else:
                suspects.extend(_do(workers.executor, waiting, workers.slots or len(waiting), receive))
    return failures


def _do(
    executor: Executor, waiting: deque[Task], slots: int, receive: Callable[[Task, Sequence[Outcome]], None]
) -> list[Task]:
    """Do tasks, so many at a time, until all are done or the executor breaks; returns those lost in flight."""
    flying: dict[Future[list[Outcome]], Task] = {}
    lost: list[Task] = []
    while (waiting and not lost) or flying:
        while waiting and len(flying) < slots and not lost:
            task = waiting.popleft()
            try:
                flying[executor.submit(carry_out, task)] = task
            except BrokenExecutor:
                lost.append(task)
        done, _ = wait(flying, return_when=FIRST_COMPLETED)
        for future in done:
            task = flying.pop(future)
            try:
                outcomes = future.result()
            except BrokenExecutor:
                lost.append(task)
                continue
            except Exception as error:
                # What the executor itself says of a task, such as Dask of one whose workers died again and again.
                outcomes = [Outcome(None, f"{type(error).__name__}: {error}")] * len(task)
            receive(task, outcomes)
    return lost
