"""Untrusted files: what an HDF5 file declares is checked before any of it is read.

netCDF4 is HDF5, and HDF5 can do more than hold arrays: point to other files, declare arrays that are larger than any
memory, or hold types that no trace needs. A trace or a log of decisions has no use for these, so they are refused.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from icb_pymc.errors import InputError
from icb_pymc.io.machine import available_memory, format_bytes

KINDS = {h5py.h5t.INTEGER: "whole numbers", h5py.h5t.FLOAT: "real numbers", h5py.h5t.STRING: "text"}
FILTERS = (h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32)
# Attributes by which netCDF4 itself links variables to dimensions: references, but only within the file.
NETCDF_ATTRIBUTES = (b"DIMENSION_LIST", b"REFERENCE_LIST")
# Deflate cannot make anything more than 1032 times smaller; variables below a megabyte are harmless anyway.
MAX_COMPRESSION, SMALL_SIZE = 1100, 2**20
MAX_OBJECTS, MAX_STRINGS_PER_ATTRIBUTE = 2_000, 100
# Memory for strings that are read to be measured, where the free memory of the machine is not known.
ASSUMED_MEMORY = 2**30


def check_netcdf(path: Path) -> None:
    """Refuse a file that is not netCDF4, is damaged, points to other files, or declares far more than it holds.

    Parameters
    ----------
    path : Path

    Raises
    ------
    InputError
        One sentence that names the file and the variable.
    """
    try:
        with path.open("rb") as file:
            is_empty = not file.read(1)
        if is_empty or not h5py.is_hdf5(path):
            raise InputError(
                f"{path} {'is empty' if is_empty else 'is not a netCDF4 file'}; download or write it again."
            )
        with h5py.File(path, "r") as file:
            _Inspection(path).group(file.id, "/")
    except PermissionError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}.") from error
    except InputError:
        raise
    except Exception as error:
        # The HDF5 library can fail in any way on a broken file.
        raise InputError(f"{path} is damaged or truncated; download or write it again.") from error


class _Inspection:
    """A walk through a file that opens its objects without reading any array."""

    def __init__(self, path: Path) -> None:
        self._path, self._size = path, path.stat().st_size
        self._objects: set[int] = set()
        self._declared = self._stored = self._attributes = self._text = 0

    def group(self, group: Any, name: str) -> None:
        self._count(group, name)
        if group.get_num_objs() > MAX_OBJECTS:
            self._refuse(f"'{name}' holds {group.get_num_objs()} objects, more than any trace has")
        for link in list(group):
            inside = f"{name.rstrip('/')}/{link.decode('utf-8', 'replace')}"
            if group.links.get_info(link).type != h5py.h5l.TYPE_HARD:
                self._refuse(f"'{inside}' is a link to another object or file; links are not followed")
            member = h5py.h5o.open(group, link)
            if isinstance(member, h5py.h5d.DatasetID):
                self._variable(member, inside)
            elif isinstance(member, h5py.h5g.GroupID):
                if name != "/":
                    self._refuse(f"'{inside}' is a group inside a group, which no trace has")
                self.group(member, inside)
            else:
                self._refuse(f"'{inside}' declares a data type, which no trace needs")

    def _count(self, item: Any, name: str) -> None:
        address = h5py.h5o.get_info(item).addr
        if address in self._objects:
            self._refuse(f"'{name}' is stored under two names")
        self._objects.add(address)
        if len(self._objects) > MAX_OBJECTS:
            self._refuse(f"it holds more than {MAX_OBJECTS} objects")
        for index in range(h5py.h5a.get_num_attrs(item)):
            self._attribute(h5py.h5a.open(item, index=index), name)

    def _attribute(self, attribute: Any, owner: str) -> None:
        name = f"{owner}@{attribute.name.decode('utf-8', 'replace')}"
        kind, count = attribute.get_type(), _count_elements(attribute.get_space())
        if attribute.name not in NETCDF_ATTRIBUTES:
            self._check_kind(kind, name)
            if _is_variable_length_text(kind) and count > MAX_STRINGS_PER_ATTRIBUTE:
                self._refuse(f"attribute '{name}' holds {count} strings, more than any trace has")
        self._attributes += count * kind.get_size()
        if self._attributes > self._size:
            self._refuse(f"attribute '{name}' declares more than the file holds")

    def _variable(self, variable: Any, name: str) -> None:
        creation = variable.get_create_plist()
        # Checked before the shape, because to find its shape a virtual dataset may open other files.
        if creation.get_layout() == h5py.h5d.VIRTUAL or creation.get_external_count():
            self._refuse(f"'{name}' keeps its numbers in another file; other files are not read")
        self._count(variable, name)
        for index in range(creation.get_nfilters()):
            if creation.get_filter(index)[0] not in FILTERS:
                self._refuse(f"'{name}' uses a compression other than zlib")
        kind = variable.get_type()
        self._check_kind(kind, name)
        count, width, stored = _count_elements(variable.get_space()), kind.get_size(), variable.get_storage_size()
        chunk = math.prod(creation.get_chunk()) if creation.get_layout() == h5py.h5d.CHUNKED else 0
        declared = max(count, chunk) * width
        if declared > SMALL_SIZE and declared > MAX_COMPRESSION * stored:
            self._refuse(f"'{name}' declares {format_bytes(declared)}, but the file stores almost none of it")
        self._declared += declared
        self._stored += stored
        if self._stored > self._size:
            self._refuse(f"'{name}' and other variables use the same bytes of the file")
        free = available_memory()
        if free is not None and self._declared > free:
            self._refuse(
                f"it needs at least {format_bytes(self._declared)} of memory, but {format_bytes(free)} are free"
            )
        if _is_variable_length_text(kind):
            self._check_text(variable, name)

    def _check_kind(self, kind: Any, name: str) -> None:
        if kind.get_class() not in KINDS:
            self._refuse(f"'{name}' holds neither numbers nor text")

    def _check_text(self, variable: Any, name: str) -> None:
        """Many strings may point to the same bytes, so they are read a few at a time until they exceed the file."""
        strings: Any = h5py.Dataset(variable)
        free = available_memory()
        at_once = max(16, (ASSUMED_MEMORY if free is None else free) // 8 // self._size)
        for part in _parts(strings.shape, at_once):
            self._text += sum(len(string) for string in np.ravel(strings[part]))
            if self._text > self._size:
                self._refuse(f"the strings of '{name}' are longer than the file")

    def _refuse(self, reason: str) -> None:
        raise InputError(f"{self._path} is refused: {reason}.")


def _parts(shape: tuple[int, ...], most: int) -> Iterator[tuple[int | slice, ...]]:
    """Selections of at most this many elements each, which together are an array of this shape."""
    if not shape:
        yield ()
    elif math.prod(shape[1:]) <= most:
        rows = most // max(1, math.prod(shape[1:]))
        yield from ((slice(start, start + rows),) for start in range(0, shape[0], rows))
    else:
        yield from ((row, *rest) for row in range(shape[0]) for rest in _parts(shape[1:], most))


def _count_elements(space: Any) -> int:
    if space.get_simple_extent_type() == h5py.h5s.NULL:
        return 0
    return math.prod(int(length) for length in space.get_simple_extent_dims())


def _is_variable_length_text(kind: Any) -> bool:
    return kind.get_class() == h5py.h5t.STRING and kind.is_variable_str()
