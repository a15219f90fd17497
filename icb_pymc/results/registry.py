"""The registry of shared traces: what each is of, how to make it again, and which checks it passed."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import icb_pymc
from icb_pymc.errors import InputError
from icb_pymc.io.files import existing, replacing
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.traces import read_trace

REGISTRY = "registry.json"
SCHEMA_VERSION = 1
LARGEST_REGISTRY = 10 * 2**20
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class RegisteredTrace:
    """A shared trace.

    Attributes
    ----------
    name, file : str
        What it is called, and its file within the folder of the registry.
    bytes, sha256 : int, str
        Of the file.
    model, data, shared : str
        What was fitted to what, and what of it is in the file.
    made_by : list of str
        The commands that make it again.
    versions : dict
        Of the libraries that made it.
    checks : dict
        Of the draws in the file: chains, draws, worst_rhat, worst_bulk_ess, worst_tail_ess, passed.
    """

    name: str
    file: str
    bytes: int
    sha256: str
    model: str
    data: str
    shared: str
    made_by: list[str]
    versions: dict[str, str]
    checks: dict[str, Any]


def registry_folder(folder: str | Path | None = None) -> Path:
    """The folder given, else ``traces`` here, else that of the clone that holds this package."""
    if folder is not None:
        if not Path(folder).is_dir():
            raise InputError(f"{folder}: there is no such folder.")
        return Path(folder)
    for candidate in (Path("traces"), Path(icb_pymc.__file__).resolve().parents[1] / "traces"):
        if (candidate / REGISTRY).is_file():
            return candidate
    raise InputError(
        f"there is no traces/{REGISTRY} here, and none beside the package (an installed one has no traces): "
        "run this in a clone of the repository, or give the folder."
    )


def read_registry(folder: Path) -> dict[str, RegisteredTrace]:
    """The entries of a registry by name; none if the folder has no registry yet."""
    path = folder / REGISTRY
    if not path.exists():
        return {}
    if existing(path).stat().st_size > LARGEST_REGISTRY:
        raise InputError(f"{path} is larger than any registry; get it again.")
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise InputError(f"{path} is not JSON: {str(error).splitlines()[0]}.") from error
    if not isinstance(told, dict) or not isinstance(told.get("traces"), list):
        raise InputError(f"{path} is not a registry: it has no list of 'traces'.")
    version = told.get("schema_version")
    if not isinstance(version, int) or version < 1:
        raise InputError(f"{path} is not a registry: its schema_version is {version!r}, not a whole number from 1.")
    if version > SCHEMA_VERSION:
        raise InputError(f"{path} has schema_version {version}, newer than this icb_pymc: pip install -U icb-pymc.")
    entries: dict[str, RegisteredTrace] = {}
    for number, description in enumerate(told["traces"], start=1):
        entry = _entry(description, f"{path}, trace number {number}")
        if entry.name in entries:
            raise InputError(f"{path}: '{entry.name}' is there twice.")
        path_of(entry, folder)
        entries[entry.name] = entry
    return entries


def find_entry(name: str, folder: Path) -> RegisteredTrace:
    """One entry, or an `InputError` that names those there are."""
    entries = read_registry(folder)
    if name not in entries:
        raise InputError(f"{folder / REGISTRY} has no '{name}'; it has {', '.join(entries) or 'nothing'}.")
    return entries[name]


def path_of(entry: RegisteredTrace, folder: Path) -> Path:
    """The file of an entry, which must lie within the folder of the registry."""
    path = folder / entry.file
    leaves = Path(entry.file).is_absolute() or ".." in Path(entry.file).parts or "\\" in entry.file
    if leaves or not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{folder / REGISTRY}: the file of '{entry.name}', {entry.file!r}, is outside the folder.")
    return path


def open_trace(name: str, folder: str | Path | None = None) -> InferenceData:
    """Open a shared trace by its name, if it is still the file that was registered.

    Parameters
    ----------
    name : str
        As `icb traces list` shows it.
    folder : path, optional
        That of the registry; by default ``traces`` here or in the clone that holds this package.
    """
    where = registry_folder(folder)
    entry = find_entry(name, where)
    wrong = file_problem(entry, where)
    if wrong:
        raise InputError(f"'{name}': {wrong}.")
    return read_trace(path_of(entry, where))


def write_registry(entries: Mapping[str, RegisteredTrace], folder: Path) -> None:
    """Write the registry of `folder`; the old one stays whole until the new one is complete."""
    content = {"schema_version": SCHEMA_VERSION, "traces": [asdict(entry) for entry in entries.values()]}
    with replacing(folder / REGISTRY) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def file_problem(entry: RegisteredTrace, folder: Path) -> str | None:
    """What is wrong with the file of a registered trace (missing, other size, other checksum), or None."""
    path = path_of(entry, folder)
    if not path.is_file():
        return f"its file {path} is missing"
    size = path.stat().st_size
    if size != entry.bytes:
        return f"{path} has {size} bytes, not the {entry.bytes} of the registry: get it again"
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return None if digest == entry.sha256 else f"{path} has another checksum (sha256) than the registry: get it again"


def _entry(told: Any, where: str) -> RegisteredTrace:
    kinds = {"bytes": int, "made_by": list, "versions": dict, "checks": dict}
    if not isinstance(told, dict):
        raise InputError(f"{where} is not a JSON object.")
    for field in fields(RegisteredTrace):
        if not isinstance(told.get(field.name), kinds.get(field.name, str)):
            raise InputError(f"{where}: '{field.name}' is missing or of the wrong kind.")
    if not all(isinstance(command, str) for command in told["made_by"]):
        raise InputError(f"{where}: 'made_by' is a list of commands.")
    for name, pattern in {"name": NAME, "sha256": SHA256}.items():
        if not pattern.fullmatch(told[name]):
            raise InputError(f"{where}: {name} {told[name]!r} is not one.")
    # What is shown on a terminal must not steer it.
    if not all(text.isprintable() for text in _texts(told)):
        raise InputError(f"{where}: it holds characters that cannot be printed.")
    return RegisteredTrace(**{field.name: told[field.name] for field in fields(RegisteredTrace)})


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _texts(part)
