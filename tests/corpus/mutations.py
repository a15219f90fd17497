"""Mutations of valid files: of their bytes, of the cells of a table, and of what a netCDF file holds."""

import io
from typing import Any

import h5py
import numpy as np
from hypothesis import strategies as st

PLACES = st.floats(0, 1, exclude_max=True)
BYTES = st.sampled_from(
    [b"", b"\0", b"\xff", b"\xff" * 8, b"\0" * 8, b'"', b",", b"\n", b"\r", b"\x80", b"-1", b"9" * 20]
)
BYTE_CHANGES = ("overwrite", "insert", "remove", "repeat", "cut", "flip")
CELLS = st.one_of(
    st.sampled_from(
        ["", "nan", "inf", "-inf", "1e309", "1e308", "-1", "0", "1", "2", "true", "1.5", "a", " ", '"', "9" * 30]
    ),
    st.sampled_from(
        ["2020-01-01", "2020-13-01", "2020-01-01T00:00:00+02:00", "01/02/2020", "9999-12-31", "1e18", "NA", "\u202e"]
    ),
    st.text(max_size=6),
)
TABLE_CHANGES = (
    "cell",
    "header",
    "drop row",
    "drop cell",
    "drop column",
    "repeat row",
    "exchange rows",
    "whole column",
)
TREE_CHANGES = ("attribute", "remove", "value", "everywhere", "shape", "kind", "rename", "swap")
NUMBERS = [0, -1, 1, 2, 2**31, 2**63 - 1, -(2**63), 0.5, np.nan, np.inf, -np.inf, 1e308, 5e-324]
TEXTS = [
    "",
    "a",
    "{",
    "[]",
    "{}",
    "\0",
    "null",
    "\x1b[31m",
    "days since 1-1-1",
    "seconds since 9999-01-01",
    b"\xff\xfe",
]
VALUES = st.sampled_from([*NUMBERS, *TEXTS, [1, 2], [], ["a", "b"], [np.nan]])
ATTRIBUTES = st.sampled_from(
    ["units", "calendar", "_FillValue", "scale_factor", "add_offset", "coordinates", "dtype", "_Unsigned"]
)

byte_changes = st.lists(st.tuples(st.sampled_from(BYTE_CHANGES), PLACES, PLACES, BYTES), min_size=1, max_size=4)
table_changes = st.lists(st.tuples(st.sampled_from(TABLE_CHANGES), PLACES, PLACES, CELLS), min_size=1, max_size=4)
tree_changes = st.lists(
    st.tuples(st.sampled_from(TREE_CHANGES), PLACES, PLACES, VALUES, st.none() | ATTRIBUTES), min_size=1, max_size=3
)


def with_changed_bytes(content: bytes, changes: list[tuple[str, float, float, bytes]]) -> bytes:
    """The bytes after these changes, each at a place that is a share of the length."""
    for change, start, size, inserted in changes:
        at = int(start * len(content))
        # Most damage is small; some is large.
        end = at + 1 + int(size**8 * (len(content) - at))
        if change == "overwrite":
            content = content[:at] + inserted + content[at + len(inserted) :]
        elif change == "insert":
            content = content[:at] + inserted + content[at:]
        elif change == "remove":
            content = content[:at] + content[end:]
        elif change == "repeat":
            content = content[:end] + content[at:end] + content[end:]
        elif change == "cut":
            content = content[:at]
        else:
            content = (
                content[:at] + bytes(byte ^ (1 << int(8 * size)) for byte in content[at : at + 1]) + content[at + 1 :]
            )
    return content


def with_changed_cells(content: str, changes: list[tuple[str, float, float, str]]) -> bytes:
    """A table, whose cells hold no commas, after these changes."""
    rows = [line.split(",") for line in content.splitlines()]
    for change, down, across, cell in changes:
        row = 1 + int(down * (len(rows) - 1))
        if change == "header":
            row = 0
        if row >= len(rows) or not rows[row]:
            continue
        column = int(across * len(rows[row]))
        if change in ("cell", "header"):
            rows[row][column] = cell
        elif change == "drop row":
            del rows[row]
        elif change == "drop cell":
            del rows[row][column]
        elif change == "drop column":
            rows = [one[:column] + one[column + 1 :] for one in rows]
        elif change == "repeat row":
            rows.insert(row, list(rows[row]))
        elif change == "exchange rows":
            rows[row], rows[-1] = rows[-1], rows[row]
        else:
            rows[1:] = [[*one[:column], cell, *one[column + 1 :]] for one in rows[1:]]
    return "\n".join(",".join(one) for one in rows).encode("utf-8", "surrogatepass")


def with_changed_contents(content: bytes, changes: list[tuple[str, float, float, Any, str | None]]) -> bytes:
    """A netCDF file after these changes of its variables and attributes; what HDF5 itself refuses is left out."""
    buffer = io.BytesIO(content)
    with h5py.File(buffer, "r+", track_order=True) as file:
        for change, which, where, value, attribute in changes:
            try:
                _change(file, change, which, where, value, attribute)
            except (TypeError, ValueError, OSError, KeyError, RuntimeError, OverflowError, AttributeError):
                continue
    return buffer.getvalue()


def _change(file: Any, change: str, which: float, where: float, value: Any, attribute: str | None) -> None:
    names: list[str] = []
    file.visit(names.append)
    if change == "attribute" or not names:
        item = ([file] + [file[name] for name in names])[int(which * (len(names) + 1))]
        known = [name for name in item.attrs if name not in ("DIMENSION_LIST", "REFERENCE_LIST")]
        name = attribute or (known[int(where * len(known))] if known else "units")
        item.attrs[name] = value
        return
    name = names[int(which * len(names))]
    item = file[name]
    if change == "remove":
        del file[name]
    elif change == "rename":
        file.move(name, f"{name}_")
    elif change == "swap":
        other = names[int(where * len(names))]
        file.move(name, "aside")
        file.move(other, name)
        file.move("aside", other)
    elif isinstance(item, h5py.Dataset):
        if isinstance(value, list) and item.dtype.kind in ("O", "T"):
            # h5py itself crashes when it writes a list where texts are.
            return
        old, attributes = np.asarray(item[()]), {key: item.attrs[key] for key in item.attrs if key != "REFERENCE_LIST"}
        if change == "everywhere":
            item[...] = value
        elif change == "value":
            if old.ndim:
                item[np.unravel_index(int(where * old.size), old.shape)] = value
        else:
            new = old.reshape(-1)[: int(where * old.size)] if change == "shape" else np.full(old.shape, value)
            del file[name]
            file[name] = new
            for key, kept in attributes.items():
                if key != "DIMENSION_LIST":
                    file[name].attrs[key] = kept
            if change == "kind" and "DIMENSION_LIST" in attributes:
                for axis, (scale,) in enumerate(attributes["DIMENSION_LIST"]):
                    file[name].dims[axis].attach_scale(file[scale])
