"""A progress bar of many tasks, with the time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(total: int, shown: bool = True) -> Iterator[Callable[[str], None]]:
    """Show a bar; the function that is yielded advances it by a task with this name."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn())
    names = TextColumn("{task.description}", markup=False)
    # Results go to the standard output, progress beside them.
    with Progress(*columns, names, console=Console(stderr=True), disable=total == 0 or not shown) as bar:
        task = bar.add_task("", total=total)
        yield lambda name: bar.update(task, advance=1, description=name)
