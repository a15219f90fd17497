"""Many independent tasks on workers that may die; a task that kills its worker is found, and costs no other."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any, TypeVar

from icb_pymc.io.workers import StartWorkers, Workers

DIED = "its process died twice, the second time with no other run in progress: it was killed, or ran out of memory."
Task = TypeVar("Task")
Submit = Callable[[Executor, Task], "Future[Any]"]


def run_tasks(
    tasks: Iterable[Task],
    submit: Submit[Task],
    start_workers: StartWorkers,
    receive: Callable[[Task, Any], None],
    receive_error: Callable[[Task, str], None],
) -> None:
    """Do all tasks; workers are started only if there are any.

    Parameters
    ----------
    tasks : iterable
    submit : callable
        ``submit(executor, task)`` gives the task to an executor. It is called when a worker can take the task, so what
        a task needs may be made there, and is not kept for all of them.
    start_workers : callable
        Called again if the workers die.
    receive : callable
        ``receive(task, result)``, in this process, in the order in which tasks end.
    receive_error : callable
        ``receive_error(task, reason)`` for a task whose worker died, or could not answer.
    """
    waiting, suspects = deque(tasks), deque[Task]()
    while waiting or suspects:
        with start_workers() as workers:
            if suspects:
                # When a process dies, all tasks in flight are lost. Run alone, each shows whether it was the cause.
                suspect = suspects.popleft()
                if _run(Workers(workers.executor, lambda: 1), deque([suspect]), submit, receive, receive_error):
                    receive_error(suspect, DIED)
            else:
                suspects.extend(_run(workers, waiting, submit, receive, receive_error))


def _run(
    workers: Workers,
    waiting: deque[Task],
    submit: Submit[Task],
    receive: Callable[[Task, Any], None],
    receive_error: Callable[[Task, str], None],
) -> list[Task]:
    """Run tasks until all are done or the executor breaks; return those lost in flight."""
    in_flight: dict[Future[Any], Task] = {}
    lost: list[Task] = []
    while (waiting and not lost) or in_flight:
        slots = workers.slots()
        while waiting and len(in_flight) < slots and not lost:
            task = waiting.popleft()
            try:
                in_flight[submit(workers.executor, task)] = task
            except BrokenExecutor:
                lost.append(task)
        done, _ = wait(in_flight, return_when=FIRST_COMPLETED)
        for future in done:
            task = in_flight.pop(future)
            try:
                result = future.result()
            except BrokenExecutor:
                lost.append(task)
            except Exception as error:
                # An error of the executor itself, such as Dask's after the workers of a task died repeatedly.
                receive_error(task, f"{type(error).__name__}: {error}")
            else:
                receive(task, result)
    return lost
