"""A folder in which a long fit keeps its chains while it runs, so that the same command goes on after an interruption.

`checkpoint.json` describes the fit. Each chain has blocks, which hold the draws and the sampler's statistics of some
iterations, and the state of the sampler after the last of them. The state is written after its block and says how many
iterations count: a block without it, after a kill -9, is made again.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from filelock import FileLock, Timeout

from icb_pymc.errors import InputError
from icb_pymc.io.array_trees import read_tree, write_tree
from icb_pymc.io.files import UNFINISHED, replacing

DESCRIPTION, LOCK = "checkpoint.json", ".lock"
# Processes of the chains have the lock too, and end a moment after the one that was killed.
SECONDS_TO_END = 5.0
# Files that a checkpoint consists of, those that a killed process left half-written included.
OWN_FILES = (DESCRIPTION, LOCK, "chain-*.npz", f".*{UNFINISHED}*")


class ChainState(NamedTuple):
    """Where a chain stands.

    Attributes
    ----------
    iterations : int
        How many iterations it has made, tuning included.
    point : dict of str to array
        Values of the model's variables after the last.
    sampler : object
        State of the step methods, as `icb_pymc.steps.resumable` describes it.
    """

    iterations: int
    point: dict[str, np.ndarray]
    sampler: Any


class Checkpoint:
    """The chains of a fit in a folder; it can be sent to other processes, which keep a chain each.

    Parameters
    ----------
    folder : path
    description : mapping
        Everything that the draws depend on, as JSON has it.
    """

    def __init__(self, folder: str | Path, description: Mapping[str, Any]) -> None:
        self.folder, self.description = Path(folder), dict(description)

    def recorded_seed(self) -> int | None:
        """The seed of the fit that is in the folder, if there is one."""
        seed = self._recorded().get("seed") if (self.folder / DESCRIPTION).is_file() else None
        return seed if isinstance(seed, int) else None

    @contextmanager
    def open(self) -> Iterator[None]:
        """Begin or resume, which only one process may do at a time.

        Raises
        ------
        InputError
            If the folder holds something else or another fit, cannot be written, or is in use.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file; give the name of a folder for the checkpoint.")
        if not (self.folder / DESCRIPTION).is_file() and any(self.folder.glob("[!.]*")):
            raise InputError(f"{self.folder} is not empty and not a checkpoint; give another folder.")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / LOCK, timeout=SECONDS_TO_END)
            lock.acquire()
        except Timeout:
            raise InputError(f"{self.folder} is in use by another fit; wait for it, or give another folder.") from None
        except OSError as error:
            raise InputError(f"{self.folder} cannot be written: {error.strerror}.") from error
        try:
            if not (self.folder / DESCRIPTION).is_file():
                with replacing(self.folder / DESCRIPTION) as temporary:
                    temporary.write_text(json.dumps(self.description, indent=1), encoding="utf-8", newline="\n")
            else:
                self._check_same(self._recorded())
            for unfinished in self.folder.glob(f".*{UNFINISHED}*"):
                unfinished.unlink(missing_ok=True)
            yield
        finally:
            lock.release()

    def state(self, chain: int) -> ChainState | None:
        """Where a chain stands, or None if nothing of it was kept."""
        path = self._state_path(chain)
        if not path.is_file():
            return None
        kept = self._read(path)
        return ChainState(kept["iterations"], kept["point"], kept["sampler"])

    def keep(
        self, chain: int, begin: int, stats: list[Any], values: Mapping[str, list[np.ndarray]], state: ChainState
    ) -> None:
        """Write a block of iterations from number `begin` on, and then the state after them.

        Parameters
        ----------
        chain, begin : int
        stats : list
            The step methods' statistics of each iteration.
        values : mapping of str to list of array
            The recorded variables of the iterations among them that are no tuning.
        state : ChainState

        Raises
        ------
        InputError
            If the files cannot be written.
        TypeError
            If the state holds what cannot be written as numbers or text.
        """
        draws = {name: np.stack(arrays) for name, arrays in values.items() if arrays}
        block = {"iterations": len(stats), "stats": stats, "draws": draws}
        write_tree(self.folder / f"chain-{chain}-from-{begin}.npz", block)
        write_tree(self._state_path(chain), state._asdict())

    def blocks(self, chain: int) -> Iterator[dict[str, Any]]:
        """The blocks of a chain in order, up to its state."""
        state, begin = self.state(chain), 0
        while state is not None and begin < state.iterations:
            block = self._read(self.folder / f"chain-{chain}-from-{begin}.npz")
            yield block
            begin += block["iterations"]

    def stats(self, chain: int) -> list[Any]:
        """The statistics of all iterations of a chain."""
        return [stats for block in self.blocks(chain) for stats in block["stats"]]

    def draws(self, chain: int) -> dict[str, np.ndarray]:
        """The draws of a chain by variable, without tuning."""
        found = [block["draws"] for block in self.blocks(chain) if block["draws"]]
        return {name: np.concatenate([draws[name] for draws in found]) for name in found[0]} if found else {}

    def _state_path(self, chain: int) -> Path:
        return self.folder / f"chain-{chain}-state.npz"

    def _read(self, path: Path) -> Any:
        try:
            return read_tree(path)
        except InputError as error:
            raise InputError(f"{error} Remove the folder {self.folder} to start again.") from error

    def _recorded(self) -> dict[str, Any]:
        path = self.folder / DESCRIPTION
        try:
            recorded = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            recorded = None
        if not isinstance(recorded, dict):
            raise InputError(f"{path} is damaged: remove the folder {self.folder} to start again.")
        return recorded

    def _check_same(self, recorded: dict[str, Any]) -> None:
        for name in [*self.description, *recorded]:
            before, now = recorded.get(name), self.description.get(name)
            if before != now:
                raise InputError(
                    f"{self.folder} holds the checkpoint of a fit with other {name}{_difference(before, now)}: give "
                    "another folder, or the same command to continue."
                )


def remove_checkpoint(folder: str | Path) -> None:
    """Remove a checkpoint that is no longer needed, and the folder unless it holds anything else.

    If another process uses it now, it is left to that one.
    """
    try:
        with FileLock(Path(folder) / LOCK, timeout=0):
            for pattern in OWN_FILES:
                for path in Path(folder).glob(pattern):
                    path.unlink(missing_ok=True)
        Path(folder).rmdir()
    except (Timeout, OSError):
        # In use, removed by the other, or not empty.
        return


def _difference(before: Any, now: Any) -> str:
    shown = [json.dumps(value, ensure_ascii=False) for value in (before, now)]
    return f" ({shown[0]}, not {shown[1]})" if max(map(len, shown)) <= 40 else ""
