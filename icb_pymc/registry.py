"""The registry of shared traces: what each is of, how to make it again, and which checks it passed."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import icb_pymc
from icb_pymc.errors import InputError
from icb_pymc.files import existing, replacing
from icb_pymc.inference_data import InferenceData, group
from icb_pymc.registry_checks import check_draws, differences
from icb_pymc.traces import read_trace

REGISTRY = "registry.json"
SCHEMA_VERSION = 1
LARGEST_REGISTRY = 10 * 2**20
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Entry:
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


def read_registry(folder: Path) -> dict[str, Entry]:
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
    entries: dict[str, Entry] = {}
    for number, description in enumerate(told["traces"], start=1):
        entry = _entry(description, f"{path}, trace number {number}")
        if entry.name in entries:
            raise InputError(f"{path}: '{entry.name}' is there twice.")
        path_of(entry, folder)
        entries[entry.name] = entry
    return entries


def find_entry(name: str, folder: Path) -> Entry:
    """One entry, or an `InputError` that names those there are."""
    entries = read_registry(folder)
    if name not in entries:
        raise InputError(f"{folder / REGISTRY} has no '{name}'; it has {', '.join(entries) or 'nothing'}.")
    return entries[name]


def path_of(entry: Entry, folder: Path) -> Path:
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
    wrong = _wrong_file(entry, where)
    if wrong:
        raise InputError(f"'{name}': {wrong}.")
    return read_trace(path_of(entry, where))


def verify(entry: Entry, folder: Path) -> list[str]:
    """What is wrong with a shared trace: its file, its contents, or what is said of it; nothing if all is well."""
    wrong = _wrong_file(entry, folder)
    if wrong:
        return [wrong]
    try:
        trace = read_trace(path_of(entry, folder))
    except InputError as error:
        return [str(error).rstrip(".")]
    found = describe(trace)
    problems = [
        f"the registry says {name} {getattr(entry, name)!r}, the file {value!r}"
        for name, value in found.items()
        if name != "checks" and getattr(entry, name) != value
    ]
    problems += differences(entry.checks, found["checks"])
    if not found["checks"]["passed"]:
        problems.append("its draws do not pass the checks")
    return problems


def add(path: str | Path, name: str, made_by: Sequence[str], folder: Path, *, replace: bool = False) -> Entry:
    """Copy a trace into the folder of a registry and register it with the checks that it passes.

    Parameters
    ----------
    path : path
        A trace.
    name : str
        Lower-case letters, digits, dots, dashes.
    made_by : sequence of str
        The commands that make the trace again, in order.
    folder : Path
    replace : bool
        Put it in the place of one that has this name.
    """
    if not NAME.fullmatch(name):
        raise InputError(f"name '{name}': use lower-case letters, digits, dots and dashes, as in nb-icb-sampling.")
    if not made_by or not all(made_by):
        raise InputError("say how the trace can be made again: the commands, in order.")
    entries = read_registry(folder)
    if name in entries and not replace:
        raise InputError(f"{folder / REGISTRY} has a '{name}' already; take another name, or ask to replace it.")
    trace = read_trace(path)
    content, file = Path(path).read_bytes(), f"{name}.nc"
    digest = hashlib.sha256(content).hexdigest()
    entry = Entry(name, file, len(content), digest, made_by=list(made_by), **describe(trace))
    with replacing(folder / file) as temporary:
        temporary.write_bytes(content)
    entries[name] = entry
    told = {"schema_version": SCHEMA_VERSION, "traces": [asdict(entry) for entry in entries.values()]}
    with replacing(folder / REGISTRY) as temporary:
        temporary.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return entry


def describe(trace: InferenceData) -> dict[str, Any]:
    """What a registry says of a trace and the trace itself tells."""
    attrs, data = trace.attrs, group(trace, "constant_data")
    versions = {"icb_pymc": str(attrs.get("icb_pymc", "unknown"))} | json.loads(attrs.get("versions", "{}"))
    return {
        "model": str(attrs.get("model", "unknown")),
        "data": _data_in_words(data),
        "shared": str(attrs.get("shared", "all of it")),
        "versions": {str(name): str(version) for name, version in versions.items()},
        "checks": check_draws(trace),
    }


def _data_in_words(data: Any) -> str:
    words = f"{data.sizes['time']} decisions among up to {data.sizes['action']} candidates with "
    words += f"{data.sizes['feature']} features"
    if "agent" in data.attrs:
        words += f", agent {data.attrs['agent']}, seed {data.attrs.get('seed', 'unknown')}"
    return words + (", synthetic patients" if data.attrs.get("synthetic") else "")


def _wrong_file(entry: Entry, folder: Path) -> str | None:
    path = path_of(entry, folder)
    if not path.is_file():
        return f"its file {path} is missing"
    size = path.stat().st_size
    if size != entry.bytes:
        return f"{path} has {size} bytes, not the {entry.bytes} of the registry: get it again"
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return None if digest == entry.sha256 else f"{path} has another checksum (sha256) than the registry: get it again"


def _entry(told: Any, where: str) -> Entry:
    kinds = {"bytes": int, "made_by": list, "versions": dict, "checks": dict}
    if not isinstance(told, dict):
        raise InputError(f"{where} is not a JSON object.")
    for field in fields(Entry):
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
    return Entry(**{field.name: told[field.name] for field in fields(Entry)})


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _texts(part)
