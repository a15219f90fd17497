"""Whether the draws of a fit will fit into memory, known before the sampling and not after."""

import os
from pathlib import Path

from icb_pymc.errors import InputError

# PyMC keeps the draws of each chain and then stacks them: for a moment they are there twice.
COPIES = 2
UNITS = ((30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "bytes"))


def check_room(bytes_per_draw: int, draws: int, chains: int) -> None:
    """Refuse a fit whose draws would not fit, with the options that help."""
    needed, free = COPIES * bytes_per_draw * draws * chains, available_memory()
    if needed > free:
        raise InputError(
            f"{chains} chains of {draws} draws need {size_in_words(needed)} of memory, "
            f"and {size_in_words(free)} are free: "
            "keep fewer times (every=10, or times=[...]), half the digits (dtype='float32'), or fewer draws."
        )


def available_memory() -> int:
    """Bytes that this process can still take."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        kilobytes = next(line.split()[1] for line in lines if line.startswith("MemAvailable"))
        return int(kilobytes) * 1024
    except (OSError, StopIteration):
        # Not Linux: all there is, for want of a better number.
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def size_in_words(size: int) -> str:
    """Bytes for people."""
    unit, name = next((2**power, name) for power, name in UNITS if size >= 2**power or not power)
    return f"{size / unit:.1f} {name}" if unit == 2**30 else f"{size / unit:.0f} {name}"
