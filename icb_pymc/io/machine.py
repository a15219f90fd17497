"""Memory and cores that this process may use, and whether the draws of a fit will fit into that memory."""

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from icb_pymc.errors import InputError

# PyMC keeps the draws of each chain and then stacks them, so for a moment there are two copies.
COPIES = 2
# Options of glibc's `mallopt`, and the size below which freed memory is kept.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, KEPT_BYTES = -1, -3, 2**30
UNITS = ((30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "bytes"))


def check_memory(bytes_per_draw: int, draws: int, chains: int) -> None:
    """Refuse a fit whose draws would not fit into memory, and name the options that help."""
    needed, free = COPIES * bytes_per_draw * draws * chains, available_memory()
    if free is not None and needed > free:
        reason = (
            f"{chains} chains of {draws} draws need {format_bytes(needed)} of memory, "
            f"but only {format_bytes(free)} are free"
        )
        raise InputError(
            f"{reason}: keep fewer times (every=10, or times=[...]), half the digits (dtype='float32'), or fewer "
            "draws.",
            on_command_line=f"{reason}: keep fewer times (--every 10), half the digits (--dtype float32), or fewer "
            "draws (--draws, --chains).",
        )


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes that this process can still allocate, or None where that cannot be known.

    On Linux this is the smaller of what the machine has free and what the limits of the process's control groups
    (containers, batch jobs) leave.

    Parameters
    ----------
    root : Path
        The folder that holds ``proc`` and ``sys``.
    """
    known = [_free_on_linux(root), *_free_in_control_groups(root)]
    free = [size for size in known if size is not None]
    if free:
        return min(free)
    on_windows = _free_on_windows()
    return on_windows if on_windows is not None else _total_memory()


def keep_freed_memory() -> None:
    """Let the C library keep the memory of large arrays for the next ones.

    Otherwise glibc may give it back as soon as an array is freed, and to get it again takes about as long as to compute
    what is in it: a search for the mode of a long log takes a third longer. Other C libraries do as they do.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        options = ctypes.CDLL(None).mallopt
        for option in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD):
            options(option, KEPT_BYTES)


def give_back_freed_memory() -> None:
    """Let the C library return to the system what is free; where it is not glibc, nothing happens."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def usable_cores() -> int:
    """Number of cores that this process may use; hyper-threads count, which PyMC itself leaves out."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def format_bytes(size: int) -> str:
    """A number of bytes in the largest unit that it fills, e.g. '7.8 GiB'."""
    unit, name = next((2**power, name) for power, name in UNITS if size >= 2**power or not power)
    return f"{size / unit:.1f} {name}" if unit == 2**30 else f"{size / unit:.0f} {name}"


def _free_on_linux(root: Path) -> int | None:
    kilobytes = _read_table(root / "proc/meminfo").get("MemAvailable:")
    return None if kilobytes is None else kilobytes * 1024


def _free_in_control_groups(root: Path) -> Iterator[int]:
    """Bytes left in the control group of this process and in each group around it, where they have a limit."""
    for folder, limit, usage, cache in _control_groups(root):
        most, used = _read_number(folder / limit), _read_number(folder / usage)
        if most is not None and used is not None:
            # The kernel drops cached files when memory runs short, so they do not count as used.
            reclaimable = _read_table(folder / "memory.stat").get(cache, 0)
            yield max(0, most - max(0, used - reclaimable))


def _control_groups(root: Path) -> Iterator[tuple[Path, str, str, str]]:
    """Folders of the control groups that this process is in, and the names of their limit, usage and file cache.

    Inside a container the path in /proc/self/cgroup may be the host's, which does not exist here; the root of the
    mounted tree is then the container's own group, and it is always among the folders.
    """
    for line in _read_lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers:
            top, names = root / "sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            top = root / "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        group = PurePosixPath(path.lstrip("/"))
        for folder in (group, *group.parents):
            yield top / folder, *names


def _free_on_windows() -> int | None:
    windows = getattr(ctypes, "windll", None)
    if windows is None:
        return None
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    return int(status.available_physical) if windows.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)) else None


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total_physical", ctypes.c_uint64),
        ("available_physical", ctypes.c_uint64),
        ("total_page_file", ctypes.c_uint64),
        ("available_page_file", ctypes.c_uint64),
        ("total_virtual", ctypes.c_uint64),
        ("available_virtual", ctypes.c_uint64),
        ("available_extended_virtual", ctypes.c_uint64),
    )


def _total_memory() -> int | None:
    """All memory of the machine: macOS does not report what is free in a file or by sysconf."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def _read_number(path: Path) -> int | None:
    """The number in a file, or None if there is no such file or it says 'max'."""
    lines = _read_lines(path)
    return int(lines[0]) if lines and lines[0].isdigit() else None


def _read_table(path: Path) -> dict[str, int]:
    """Lines like 'MemAvailable: 1024 kB' or 'inactive_file 4096' by their first word."""
    rows = [line.split() for line in _read_lines(path)]
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}
