"""Who does the work: processes of this machine, or a Dask cluster. To the rest both are executors."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import NamedTuple

from icb_pymc.errors import InputError

# Linear algebra in several threads would make units fight for cores, and sums depend on their number.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
SECONDS_TO_CONNECT = 20


class Workers(NamedTuple):
    """An executor, and how many tasks to hand it at a time (None: all)."""

    executor: Executor
    slots: int | None


StartWorkers = Callable[[], AbstractContextManager[Workers]]


def processes(jobs: int) -> StartWorkers:
    """Processes of this machine, also where one would do: a unit must not depend on what else a process holds."""

    @contextmanager
    def start() -> Iterator[Workers]:
        with _environment(ONE_THREAD):
            pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_end_with_parent)
            try:
                yield Workers(pool, jobs)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    return start


def cluster(address: str) -> StartWorkers:
    """The Dask cluster whose scheduler is at `address`; it hands tasks of lost workers to others by itself."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("dask.distributed is not installed; pip install 'icb-pymc[cluster]', or use --jobs.") from None

    @contextmanager
    def start() -> Iterator[Workers]:
        try:
            client = Client(address, timeout=SECONDS_TO_CONNECT)
        except (OSError, ValueError, TimeoutError) as error:
            raise InputError(f"no Dask scheduler answers at {address}: {error}.") from error
        with client:
            executor = client.get_executor(pure=False)
            try:
                yield Workers(executor, None)
            finally:
                executor.shutdown(wait=False)

    return start


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Environment variables for processes that start meanwhile."""
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


def _end_with_parent() -> None:
    """End at once when interrupted, where PyMC would return the draws so far; and not outlive a killed parent."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()
