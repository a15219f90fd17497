"""What a kind of bad input is: a name, a command on a file that it makes, and what the answer must say."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from icb_pymc.io import csv_tables, machine, parquet_tables, untrusted

Make = Callable[[Path], Any]


@dataclass(frozen=True)
class Kind:
    """A kind of bad input.

    Attributes
    ----------
    name : str
        What is bad about it; unique within its class.
    arguments : sequence of str
        The command, which runs in an empty folder.
    words : sequence of str
        What the sentence must contain.
    make : callable, optional
        Writes the files that the command reads into the folder that it is given.
    around : callable, optional
        Changes the surroundings of the command (a context manager that is given the folder).
    """

    name: str
    arguments: Sequence[str]
    words: Sequence[str]
    make: Make = field(default=lambda folder: None)
    around: Callable[[Path], Any] | None = None

    def __str__(self) -> str:
        return self.name


def free(gigabytes: float) -> Callable[[Path], Any]:
    """Surroundings in which this much memory is free."""

    @contextmanager
    def around(folder: Path) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for module in (machine, csv_tables, parquet_tables, untrusted):
                patch.setattr(module, "available_memory", lambda: int(gigabytes * 2**30))
            yield

    return around


def file_of(name: str, content: str | bytes) -> Make:
    """Writes a file with this content."""

    def make(folder: Path) -> None:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return make
