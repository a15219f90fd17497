"""Bad surroundings: files and folders without permission, a full disk, a full or closed output."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from corpus.kinds import Kind
from corpus.options import both

OWN = "def own(decisions):\n    return None\n"


def everything(folder: Path) -> None:
    both(folder)
    (folder / "own.py").write_text(OWN)
    (folder / "registry.json").write_text('{"schema_version": 1, "traces": []}')


def changed(target: Any, name: str, value: Any) -> Callable[[Path], Any]:
    """Surroundings in which a function of the system is another."""

    @contextmanager
    def around(folder: Path) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(target, name, value)
            yield

    return around


def fails(number: int) -> Callable[..., Any]:
    def function(*arguments: Any, **options: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return function


# The tests may run as root, who may do everything: what the system would answer to others is put in its place.
NO_ACCESS = changed(os, "access", lambda path, mode: False)
NO_OPENING = changed(Path, "open", fails(errno.EACCES))
FULL_DISK = changed(os, "fsync", fails(errno.ENOSPC))


@contextmanager
def full_output(folder: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, open("/dev/full", "w") as full:
        patch.setattr(sys, "stdout", full)
        yield
        # What is still buffered cannot be written when the file is closed either.
        patch.setattr(sys, "stdout", None)
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())


READERS = {
    "show": ["show", "log.csv"],
    "fit": ["fit", "nb_icb", "log.csv"],
    "fit of an own model": ["fit", "own.py", "log.csv"],
    "diagnose": ["diagnose", "trace.nc"],
    "plot": ["plot", "weights", "trace.nc", "-o", "x.png"],
    "report": ["report", "trace.nc", "--quick", "-o", "x.html"],
    "share": ["share", "trace.nc", "-o", "x.nc"],
    "traces": ["traces", "list", "--folder", "."],
}
WRITERS = {
    "simulate": ["simulate", "sampling", "--steps", "5", "-o", "x.nc"],
    "convert": ["convert", "log.csv", "-o", "x.nc"],
    "convert to Parquet": ["convert", "log.csv", "-o", "x.parquet"],
    "convert to CSV": ["convert", "log.csv", "-o", "x.csv"],
    "plot": READERS["plot"],
    "table": ["table", "trace.nc", "-o", "x.csv"],
    "share": READERS["share"],
    "new": ["new", "mine.py"],
    "report": READERS["report"],
}
PRINTERS = {
    "show": ["show", "log.csv"],
    "models": ["models"],
    "models --json": ["models", "--json"],
    "traces": ["traces", "list", "--folder", "."],
}
KINDS = [
    Kind(f"no permission to read, for {verb}", command, [], everything, NO_ACCESS) for verb, command in READERS.items()
]
KINDS += [
    Kind(f"files do not open, for {verb}", READERS[verb], [], everything, NO_OPENING) for verb in ("show", "diagnose")
]
KINDS += [
    Kind(f"no permission to write, for {verb}", command, [], everything, NO_ACCESS) for verb, command in WRITERS.items()
]
KINDS += [
    Kind(f"a full disk, for {verb}", command, ["space"], everything, FULL_DISK) for verb, command in WRITERS.items()
]
if Path("/dev/full").exists():
    KINDS += [
        Kind(f"a full output, for {verb}", command, ["space"], everything, full_output)
        for verb, command in PRINTERS.items()
    ]
