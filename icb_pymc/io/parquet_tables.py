"""Parquet files as data frames: what they declare is checked before they are read, and their pandas metadata ignored.

The metadata may hold anything; without it an index becomes a column, and unnamed ones are left out.
"""

import re
from pathlib import Path
from typing import Any

import pandas as pd

from icb_pymc.errors import InputError
from icb_pymc.io.csv_tables import refuse_repeated
from icb_pymc.io.machine import available_memory, format_bytes

# Bytes of a cell in memory, and how many copies of a table there are for a moment.
NUMBER, TEXT, COPIES = 8, 64, 3
UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(source: Path) -> pd.DataFrame:
    """Read a Parquet file.

    Raises
    ------
    InputError
        If it is damaged, would not fit into memory, has a column twice or without a name, or one that holds anything
        but numbers, text, dates, true and false.
    """
    require_pyarrow()
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(source)
        fields = [field for field in file.schema_arrow if not UNNAMED_INDEX.fullmatch(field.name)]
    except (pa.ArrowException, ValueError, OSError) as error:
        raise _unreadable(source, error) from error
    with file:
        _check_fields(fields, source)
        _check_size(file.metadata.num_rows, fields, source)
        try:
            table = file.read([field.name for field in fields])
            columns = {field.name: _plain(table[field.name]) for field in fields}
        except (pa.ArrowException, ValueError, OSError) as error:
            raise _unreadable(source, error) from error
    frame = {}
    for name, column in columns.items():
        try:
            column.validate(full=True)
            frame[name] = column.to_pandas()
        except (pa.ArrowException, ValueError) as error:
            raise InputError(f"{source}: column '{name}' cannot be read: {_reason(error)}.") from error
    return pd.DataFrame(frame)


def require_pyarrow() -> None:
    """Raise `InputError` if pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError("Parquet files need pyarrow: pip install 'icb-pymc[parquet]'.") from None


def _check_fields(fields: list[Any], source: Path) -> None:
    if not all(field.name for field in fields):
        raise InputError(f"{source}: a column has no name; name it, or leave it out.")
    refuse_repeated([field.name for field in fields], source)
    for field in fields:
        if unusable := _unusable(_values_of(field.type)):
            raise InputError(
                f"{source}: column '{field.name}' holds {unusable}; a table of decisions has a number, a text, a date, "
                "or true or false in each cell: convert the column, or leave it out."
            )


def _unusable(kind: Any) -> str | None:
    """What a column holds if it is nothing that a table of decisions can have."""
    import pyarrow.types as types

    known = {
        "maps": types.is_map,
        "lists": lambda kind: types.is_nested(kind) and "list" in str(kind),
        "structs": types.is_nested,
        "bytes": lambda kind: types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind),
        "times of day": types.is_time,
        "durations": lambda kind: types.is_duration(kind) or types.is_interval(kind),
    }
    return next((words for words, holds in known.items() if holds(kind)), None)


def _check_size(rows: int, fields: list[Any], source: Path) -> None:
    import pyarrow.types as types

    width = sum(NUMBER if types.is_primitive(_values_of(field.type)) else TEXT for field in fields)
    needed, free = COPIES * rows * width, available_memory()
    if free is not None and needed > free:
        raise InputError(
            f"{source} has {rows:,} rows, which need {format_bytes(needed)} of memory, but only {format_bytes(free)} "
            "are free: keep fewer rows or columns, or divide the file."
        )


def _plain(column: Any) -> Any:
    """Moments of any time zone in UTC: the zone of a file may be unknown here, and is not needed to order them."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return column.cast(pa.int64()).cast(pa.timestamp(column.type.unit, "UTC"))
    return column


def _values_of(kind: Any) -> Any:
    import pyarrow.types as types

    return kind.value_type if types.is_dictionary(kind) else kind


def _unreadable(source: Path, error: Exception) -> InputError:
    return InputError(f"{source} cannot be read as a table, write or download it again: {_reason(error)}.")


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or ["it is damaged"])[0].rstrip(".")
