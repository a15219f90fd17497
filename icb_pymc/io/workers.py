"""Where tasks are carried out: in local processes or on a Dask cluster, both behind the interface of an executor."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.util import register_after_fork
from threading import Thread
from typing import Any, NamedTuple

from icb_pymc.errors import InputError

# Multi-threaded linear algebra would make tasks compete for cores, and results depend on the number of threads.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
SECONDS_TO_CONNECT = 20
# A thread of a cluster's worker has one task in hand and one waiting, so that it need not wait for us; more would only
# fill the memory of the scheduler.
TASKS_PER_THREAD = 2
SECONDS_BETWEEN_COUNTS = 1.0


class Workers(NamedTuple):
    """An executor, and a function that says how many tasks it should have at a time."""

    executor: Executor
    slots: Callable[[], int]


StartWorkers = Callable[[], AbstractContextManager[Workers]]


def processes(jobs: int, tasks_per_job: int = 1) -> StartWorkers:
    """Local processes, even for a single job: a task must not depend on the state of the calling process.

    Parameters
    ----------
    jobs : int
        Number of processes.
    tasks_per_job : int
        More than one keeps processes busy with short tasks; all tasks in hand are lost when a process dies, and done
        again.
    """

    @contextmanager
    def start() -> Iterator[Workers]:
        with _environment_variables(ONE_THREAD):
            pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_end_with_parent)
            try:
                yield Workers(pool, lambda: jobs * tasks_per_job)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    return start


def cluster(address: str) -> StartWorkers:
    """The Dask cluster whose scheduler is at `address`; Dask itself reassigns the tasks of lost workers."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("dask.distributed is not installed; pip install 'icb-pymc[cluster]', or use --jobs.") from None

    @contextmanager
    def start() -> Iterator[Workers]:
        try:
            client = Client(address, timeout=SECONDS_TO_CONNECT)
        except (OSError, ValueError, TimeoutError) as error:
            raise InputError(f"no Dask scheduler responds at {address}: {error}.") from error
        with client:
            executor = client.get_executor(pure=False)
            try:
                yield Workers(executor, _tasks_for(client))
            finally:
                executor.shutdown(wait=False)

    return start


def _tasks_for(client: Any) -> Callable[[], int]:
    """How many tasks a cluster should have: its workers come and go."""
    counted, tasks = -SECONDS_BETWEEN_COUNTS, 0

    def slots() -> int:
        nonlocal counted, tasks
        if time.monotonic() - counted >= SECONDS_BETWEEN_COUNTS:
            threads = sum(client.nthreads().values())
            counted, tasks = time.monotonic(), TASKS_PER_THREAD * max(1, threads)
        return tasks

    return slots


@contextmanager
def _environment_variables(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables for processes that start within the context."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def no_orphans() -> Iterator[None]:
    """Processes that multiprocessing forks within the context end when this one is killed.

    Those of PyMC's chains would wait forever: each of them has a copy of the end of the pipe that it waits for.
    """
    guard = _Guard()
    # Kept as long as the guard exists.
    register_after_fork(guard, lambda _: _watch_parent())
    yield


class _Guard:
    """Nothing but its existence."""


def _end_with_parent() -> None:
    """Exit at once when interrupted (PyMC would return the draws so far), and when the parent process is killed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _watch_parent()


def _watch_parent() -> None:
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()
