"""CSV files as data frames: what is not CSV in UTF-8 is named for what it is, before pandas guesses."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from icb_pymc.errors import InputError, InputWarning
from icb_pymc.io.machine import available_memory, format_bytes

# First bytes of files that are often saved or downloaded under the name of a table.
OTHER_FILES = {
    b"PK\x03\x04": "a spreadsheet or a ZIP archive, not CSV; export the sheet as CSV in UTF-8",
    b"\xd0\xcf\x11\xe0": "a spreadsheet of an old form, not CSV; export the sheet as CSV in UTF-8",
    b"\x1f\x8b": "compressed by gzip; unpack it first",
    b"%PDF": "a PDF, not CSV",
    b"PAR1": "a Parquet file, not CSV; let its name end in .parquet",
    b"\x89HDF": "a netCDF file, not CSV; let its name end in .nc",
    b"\xff\xfe\0\0": "text in UTF-32; save it in UTF-8",
    b"\xff\xfe": "text in UTF-16; save it in UTF-8",
    b"\xfe\xff": "text in UTF-16; save it in UTF-8",
}
BLOCK = 2**20
# Read by pandas, a table takes about as much memory as its file, and columns are copied once.
COPIES = 2
OPEN_QUOTE = re.compile(r"EOF inside string starting at row (\d+)")


def read_csv(source: Path) -> pd.DataFrame:
    """Read a CSV file; blank lines are kept, so that errors can name the right line, and spaces after commas ignored.

    Raises
    ------
    InputError
        If it is not CSV in UTF-8, a column is there twice, or it would not fit into memory.

    Warns
    -----
    InputWarning
        If a column has no name; it is left out.
    """
    _refuse_other_files(source)
    needed, free = COPIES * source.stat().st_size, available_memory()
    if free is not None and needed > free:
        raise InputError(
            f"{source} needs {format_bytes(needed)} of memory, but only {format_bytes(free)} are free: "
            "leave out columns, or divide it."
        )
    try:
        names = _names(source)
        table = pd.read_csv(source, skip_blank_lines=False, skipinitialspace=True, encoding="utf-8-sig")
    except pd.errors.EmptyDataError:
        raise _without_rows(source) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source}, line {_first_line_not_in_utf_8(source)}: the text is not in UTF-8; save the table in UTF-8."
        ) from error
    except (pd.errors.ParserError, ValueError) as error:
        raise InputError(f"{source} cannot be read as a table: {_reason(error)}.") from error
    return _named(table, names, source)


def _names(source: Path) -> list[str]:
    """The names of the columns as they are written: pandas would rename the second of two."""
    first = pd.read_csv(
        source,
        header=None,
        nrows=1,
        dtype=str,
        skip_blank_lines=False,
        skipinitialspace=True,
        keep_default_na=False,
        encoding="utf-8-sig",
    )
    names = [str(name).strip() for name in first.iloc[0]]
    if len(names) == 1:
        for letter, called in {";": "semicolons", "\t": "tabs"}.items():
            if letter in names[0]:
                raise InputError(f"{source}: its cells are separated by {called}; save it with commas between them.")
        if names[0].startswith("<"):
            raise InputError(f"{source} is a page, not a table; download the table itself.")
    refuse_repeated(names, source)
    return names


def refuse_repeated(names: list[str], source: Path) -> None:
    """Raise `InputError` if a column is there twice."""
    seen: set[str] = set()
    for name in names:
        if name and name in seen:
            raise InputError(f"{source}: column '{name}' appears more than once; rename one of them.")
        seen.add(name)


def _named(table: pd.DataFrame, names: list[str], source: Path) -> pd.DataFrame:
    """The columns that have names, by these."""
    # Where every row is longer than the header, pandas takes the first cells for an index, and moves the others.
    if len(table) and not isinstance(table.index, pd.RangeIndex):
        raise InputError(
            f"{source}, line 2: there are more cells than the header has names; add the missing names, or remove "
            "commas at the ends of rows."
        )
    nameless = [number for number, name in enumerate(names) if not name]
    if len(nameless) == len(names):
        raise _without_rows(source)
    if nameless:
        warnings.warn(
            f"{source}: column number {nameless[0] + 1} has no name, and is left out.", InputWarning, stacklevel=4
        )
    table.columns = pd.Index(names, dtype=object)
    return table.loc[:, [bool(name) for name in names]]


def _refuse_other_files(source: Path) -> None:
    with source.open("rb") as file:
        start = file.read(8)
    for first, what in OTHER_FILES.items():
        if start.startswith(first):
            raise InputError(f"{source} is {what}.")
    line = 1
    for block in _blocks(source):
        position = block.find(b"\0")
        if position >= 0:
            # In UTF-16 every second byte of plain text is zero.
            what = "the text is in UTF-16" if line == 1 and position < 4 else "there is a NUL byte"
            line += block.count(b"\n", 0, position)
            raise InputError(f"{source}, line {line}: {what}; save the table as text in UTF-8.")
        line += block.count(b"\n")


def _first_line_not_in_utf_8(source: Path) -> int:
    with source.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 1


def _blocks(source: Path) -> Iterator[bytes]:
    with source.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def _reason(error: Exception) -> str:
    """What pandas says, in the words of tables."""
    text = str(error).splitlines()[0].rstrip(".").removeprefix("Error tokenizing data. C error: ")
    quote = OPEN_QUOTE.search(text)
    return f"a quotation mark in line {int(quote[1]) + 1} is never closed" if quote else text


def _without_rows(source: Path) -> InputError:
    return InputError(f"{source} has no rows; give one row per candidate per decision, or one per decision.")
