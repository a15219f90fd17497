"""A store of many fits: a folder with a trace for each subject, and an index that says what they are fits of.

The traces are ordinary files, each of which can be read by itself. The index, `fits.json`, holds the settings that all
of them share, the subjects in order, and why some could not be fitted. File names follow from the order and the names
of the subjects, so an index cannot point anywhere else.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import xarray as xr
from filelock import FileLock, Timeout

from icb_pymc.errors import InputError
from icb_pymc.io.files import UNFINISHED, replacing
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.traces import read_attributes, read_trace, read_trace_as_tree

INDEX, LOCK = "fits.json", ".lock"
INDEX_VERSION = 1
# An index of a hundred thousand subjects has some ten megabytes.
MOST_INDEX_BYTES = 100_000_000
# What the name of a file keeps of the subject's name.
UNSAFE, MOST_LETTERS = re.compile(r"[^A-Za-z0-9-]+"), 40


class Fits(Mapping[str, InferenceData]):
    """The fits of a store, by subject: a mapping that reads a trace when it is asked for.

    Parameters
    ----------
    folder : path
    settings : mapping
        What all fits share: model, hyperparameters, options, seed and version.
    subjects : mapping of str to str
        A digest of the decisions of each subject, in order, whether the subject was fitted or not.
    failures : mapping of str to str
        Why subjects could not be fitted.
    """

    def __init__(
        self,
        folder: str | Path,
        settings: Mapping[str, Any],
        subjects: Mapping[str, str],
        failures: Mapping[str, str] | None = None,
    ) -> None:
        self.folder, self.settings, self.subjects = Path(folder), dict(settings), dict(subjects)
        self.failures = dict(failures or {})
        self._files = {name: file_name(position, name) for position, name in enumerate(self.subjects)}

    def __getitem__(self, subject: str) -> InferenceData:
        return read_trace(self._fitted(subject))

    def __iter__(self) -> Iterator[str]:
        return (subject for subject in self.subjects if self.path(subject).is_file())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return (
            f"<fits of {self.settings.get('model')} to {len(self)} of {len(self.subjects)} subjects in {self.folder}>"
        )

    @property
    def missing(self) -> list[str]:
        """Subjects without a trace: they failed, or the run was stopped before."""
        return [subject for subject in self.subjects if not self.path(subject).is_file()]

    def path(self, subject: str) -> Path:
        """The file of a subject's trace, whether it exists or not."""
        return self.folder / self._files[subject]

    def tree(self, subject: str) -> xr.DataTree:
        """The trace of a subject, read without PyMC and ArviZ; see `read_trace_as_tree`."""
        return read_trace_as_tree(self._fitted(subject))

    def digest(self, subject: str) -> str:
        """A hash of everything that determines the fit of a subject."""
        described = {"settings": self.settings, "subject": subject, "decisions": self.subjects[subject]}
        return sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:32]

    def is_done(self, subject: str) -> bool:
        """Whether the fit of a subject exists, is complete, and is the one that this store describes."""
        return read_attributes(self.path(subject)).get("fit_digest") == self.digest(subject)

    def keep(self, subject: str, content: bytes) -> None:
        """Write the trace of a subject; its file is never incomplete."""
        with replacing(self.path(subject)) as temporary:
            temporary.write_bytes(content)
        self.failures.pop(subject, None)

    def write_index(self) -> None:
        """Write what the store holds."""
        index = {
            "version": INDEX_VERSION,
            "settings": self.settings,
            "subjects": [{"name": name, "decisions": digest} for name, digest in self.subjects.items()],
            "failures": self.failures,
        }
        with replacing(self.folder / INDEX) as temporary:
            temporary.write_text(json.dumps(index, indent=1, ensure_ascii=False), encoding="utf-8", newline="\n")

    def _fitted(self, subject: str) -> Path:
        if subject not in self.subjects:
            raise KeyError(subject)
        path = self.path(subject)
        if not path.is_file():
            reason = self.failures.get(subject, "the run was stopped before; give the same command again.")
            raise InputError(f"{self.folder} has no fit of '{subject}': {reason}")
        return path


def file_name(position: int, subject: str) -> str:
    """The file of a subject: a number, and as much of the name as any system of files takes.

    Examples
    --------
    >>> file_name(11, "St. Mary's / ward 3")
    '0012_St-Mary-s-ward-3.nc'
    """
    return f"{position + 1:04d}_{UNSAFE.sub('-', subject).strip('-')[:MOST_LETTERS]}.nc"


def is_store(path: str | Path) -> bool:
    """Whether a path is a folder of fits."""
    return (Path(path) / INDEX).is_file()


def read_fits(folder: str | Path) -> Fits:
    """Open a store of fits, made by `icb_pymc.fit_each` or `icb fit --each`.

    Parameters
    ----------
    folder : path

    Returns
    -------
    Fits
        A mapping of subjects to traces, each of which is read, and checked, when it is asked for.

    Raises
    ------
    InputError
        If the folder is not a store of fits.

    Examples
    --------
    >>> import icb_pymc
    >>> icb_pymc.read_fits("nowhere")
    Traceback (most recent call last):
        ...
    icb_pymc.errors.InputError: nowhere is not a folder of fits: it has no fits.json, which `icb fit --each` writes.
    """
    path = Path(folder) / INDEX
    if not path.is_file():
        raise InputError(f"{folder} is not a folder of fits: it has no {INDEX}, which `icb fit --each` writes.")
    if path.stat().st_size > MOST_INDEX_BYTES:
        raise InputError(f"{path} is refused: it is larger than any index of fits.")
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged: it is not JSON; fit again into another folder.") from error
    _check_index(index, path)
    subjects = {entry["name"]: entry["decisions"] for entry in index["subjects"]}
    return Fits(folder, index["settings"], subjects, index["failures"])


def _check_index(index: Any, path: Path) -> None:
    if not isinstance(index, dict) or not isinstance(index.get("version"), int):
        raise InputError(f"{path} is not an index of fits: it has no version.")
    if index["version"] > INDEX_VERSION:
        raise InputError(
            f"{path} has version {index['version']}, and this icb_pymc reads up to {INDEX_VERSION}: "
            "pip install -U icb-pymc."
        )
    subjects, failures = index.get("subjects"), index.get("failures")
    if not (
        isinstance(index.get("settings"), dict)
        and isinstance(subjects, list)
        and isinstance(failures, dict)
        and all(isinstance(word, str) for pair in failures.items() for word in pair)
        and all(isinstance(entry, dict) for entry in subjects)
        and all(isinstance(entry.get(key), str) for entry in subjects for key in ("name", "decisions"))
        and len({entry["name"] for entry in subjects}) == len(subjects)
    ):
        raise InputError(
            f"{path} is not an index of fits: its settings, subjects or failures are not as they are written."
        )


@contextmanager
def open_for_writing(fits: Fits) -> Iterator[Fits]:
    """Begin or resume a store, which only one process may do at a time; failures are written at the end.

    Raises
    ------
    InputError
        If another process is writing it, or it holds fits with other settings or of other decisions.
    """
    folder = fits.folder
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give the name of a folder.")
    if not is_store(folder) and any(folder.glob("[!.]*")):
        raise InputError(f"{folder} is not empty and not a folder of fits; give another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK, timeout=0)
        lock.acquire()
    except Timeout:
        raise InputError(
            f"{folder} is being written by another process; wait for it, or give another folder."
        ) from None
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}.") from error
    try:
        if is_store(folder):
            _check_same(read_fits(folder), fits)
        # Before the first write: what a process that was killed left half-written.
        for unfinished in folder.glob(f".*{UNFINISHED}*"):
            unfinished.unlink(missing_ok=True)
        fits.write_index()
        try:
            yield fits
        finally:
            fits.write_index()
    finally:
        lock.release()


def _check_same(old: Fits, new: Fits) -> None:
    for name in sorted(old.settings.keys() | new.settings.keys()):
        before, now = old.settings.get(name), new.settings.get(name)
        if before != now:
            raise InputError(
                f"{old.folder} holds fits with {name} {_shown(before)}, not {_shown(now)}: give another folder, or the "
                "same settings to continue."
            )
    if old.subjects != new.subjects:
        changed = [name for name in new.subjects if old.subjects.get(name) != new.subjects[name]]
        which = f"of '{changed[0]}'" if changed else "of more subjects"
        raise InputError(f"{old.folder} holds fits to other decisions {which}: give another folder.")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
