"""The registry of shared traces: what each contains, how to reproduce it, and which checks it passed."""

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
        Its name, and its file within the folder of the registry.
    bytes, sha256 : int, str
        Size and checksum of the file.
    model, data, shared : str
        What was fitted to what, and which part of it is in the file.
    made_by : list of str
        The commands that reproduce it.
    versions : dict
        Versions of the libraries that made it.
    checks : dict
        Diagnostics of the draws in the file: chains, draws, worst_rhat, worst_bulk_ess, worst_tail_ess, passed.
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


def registry_folder(folder: str | Path | None = None, *, to_change: bool = False) -> Path:
    """The folder given, else ``traces`` in the current folder, in the clone that contains this package, or in it.

    Those that are installed with the package are not ours `to_change`.
    """
    if folder is not None:
        if not Path(folder).is_dir():
            raise InputError(f"{folder}: there is no such folder.")
        return Path(folder)
    package = Path(icb_pymc.__file__).resolve().parent
    candidates = [Path("traces"), package.parent / "traces"]
    for candidate in candidates if to_change else [*candidates, package / "traces"]:
        if (candidate / REGISTRY).is_file():
            return candidate
    if to_change:
        raise InputError("there is no registry to add to: make a folder called traces here, or give one by --folder.")
    raise InputError(
        f"there is no traces/{REGISTRY} in the current folder, beside the package or in it: install icb-pymc again, or "
        "give the folder."
    )


def read_registry(folder: Path) -> dict[str, RegisteredTrace]:
    """The entries of a registry by name; none if the folder has no registry yet."""
    path = folder / REGISTRY
    if not path.exists():
        return {}
    if existing(path).stat().st_size > LARGEST_REGISTRY:
        raise InputError(f"{path} is larger than any registry; download it again.")
    try:
        registry = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise InputError(f"{path} is not JSON: {str(error).splitlines()[0]}.") from error
    if not isinstance(registry, dict) or not isinstance(registry.get("traces"), list):
        raise InputError(f"{path} is not a registry: it has no list of 'traces'.")
    version = registry.get("schema_version")
    if not isinstance(version, int) or version < 1:
        raise InputError(f"{path} is not a registry: its schema_version is {version!r}, not a whole number from 1.")
    if version > SCHEMA_VERSION:
        raise InputError(f"{path} has schema_version {version}, newer than this icb_pymc: pip install -U icb-pymc.")
    entries: dict[str, RegisteredTrace] = {}
    for number, description in enumerate(registry["traces"], start=1):
        entry = _entry(description, f"{path}, trace number {number}")
        if entry.name in entries:
            raise InputError(f"{path}: '{entry.name}' is listed twice.")
        path_of(entry, folder)
        entries[entry.name] = entry
    return entries


def find_entry(name: str, folder: Path) -> RegisteredTrace:
    """One entry, or an `InputError` that names the existing ones."""
    entries = read_registry(folder)
    if name not in entries:
        raise InputError(f"{folder / REGISTRY} has no '{name}'; it has {', '.join(entries) or 'nothing'}.")
    return entries[name]


def registered_as(path: Path) -> RegisteredTrace | None:
    """The entry of a file in the registry of its folder, or None if there is none or the file has changed since."""
    entries = read_registry(path.parent).values()
    return next((each for each in entries if each.file == path.name and not file_problem(each, path.parent)), None)


def path_of(entry: RegisteredTrace, folder: Path) -> Path:
    """The file of an entry, which must lie within the folder of the registry."""
    path = folder / entry.file
    leaves = Path(entry.file).is_absolute() or ".." in Path(entry.file).parts or "\\" in entry.file
    if leaves or not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{folder / REGISTRY}: the file of '{entry.name}', {entry.file!r}, is outside the folder.")
    return path


def open_trace(name: str, folder: str | Path | None = None) -> InferenceData:
    """Open a shared trace by its name, if its file is still the one that was registered.

    Parameters
    ----------
    name : str
        As `icb traces list` shows it.
    folder : path, optional
        Folder of the registry; by default ``traces`` in the current folder if it has one, else the reference traces
        that come with the package.

    Returns
    -------
    InferenceData (DataTree on PyMC 6)

    Raises
    ------
    InputError
        If there is no registry or no trace of this name, or its file is missing or has changed.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> dict(trace.posterior["belief"].sizes)
    {'chain': 4, 'draw': 400, 'time': 84, 'feature': 8}
    """
    registry = registry_folder(folder)
    entry = find_entry(name, registry)
    problem = file_problem(entry, registry)
    if problem:
        raise InputError(f"'{name}': {problem}.")
    return read_trace(path_of(entry, registry))


def write_registry(entries: Mapping[str, RegisteredTrace], folder: Path) -> None:
    """Write the registry of `folder`; the old one is replaced only when the new one is complete."""
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
        return f"{path} has {size} bytes, not the {entry.bytes} of the registry: download it again"
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != entry.sha256:
        return f"{path} has another checksum (sha256) than the registry: download it again"
    return None


def _entry(description: Any, where: str) -> RegisteredTrace:
    kinds = {"bytes": int, "made_by": list, "versions": dict, "checks": dict}
    if not isinstance(description, dict):
        raise InputError(f"{where} is not a JSON object.")
    for field in fields(RegisteredTrace):
        if not isinstance(description.get(field.name), kinds.get(field.name, str)):
            raise InputError(f"{where}: '{field.name}' is missing or of the wrong type.")
    if not all(isinstance(command, str) for command in description["made_by"]):
        raise InputError(f"{where}: 'made_by' must be a list of commands.")
    for name, pattern in {"name": NAME, "sha256": SHA256}.items():
        if not pattern.fullmatch(description[name]):
            raise InputError(f"{where}: {name} {description[name]!r} is not valid.")
    # Text that is printed must not contain control characters of terminals.
    if not all(text.isprintable() for text in _texts(description)):
        raise InputError(f"{where}: it contains characters that cannot be printed.")
    return RegisteredTrace(**{field.name: description[field.name] for field in fields(RegisteredTrace)})


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _texts(part)
