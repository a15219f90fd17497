"""Processes as /proc shows them."""

from pathlib import Path


def status_of(pid):
    """State and parent of a process, or None if it does not exist."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None


def children(pid):
    """Processes started by `pid`."""
    processes_now = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [child for child in processes_now if (status := status_of(child)) and int(status[1]) == pid]


def alive(pid):
    """Whether a process is running, and not a zombie."""
    status = status_of(pid)
    return status is not None and status[0] != "Z"
