"""Files from strangers: what an HDF5 file declares is checked before any of it is read.

netCDF4 is HDF5, and HDF5 can do more than hold arrays: point to other files, declare arrays that are larger than any
memory, or hold types that no trace needs. A trace or a log of decisions has no use for these, so they are refused.
"""

import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from icb_pymc.errors import InputError
from icb_pymc.io.machine import available_memory, size_in_words

KINDS = {h5py.h5t.INTEGER: "whole numbers", h5py.h5t.FLOAT: "real numbers", h5py.h5t.STRING: "text"}
FILTERS = (h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32)
# How netCDF4 itself ties variables to dimensions: references, but only within the file.
OF_NETCDF = (b"DIMENSION_LIST", b"REFERENCE_LIST")
# Deflate can not make anything more than 1032 times smaller; below a megabyte nobody minds.
MOST_COMPRESSED, SMALL = 1100, 2**20
MOST_OBJECTS, MOST_WORDS_OF_AN_ATTRIBUTE = 2_000, 100


def check_netcdf(path: Path) -> None:
    """Refuse a file that is not netCDF4, is damaged, points elsewhere, or is larger inside than outside.

    Parameters
    ----------
    path : Path
    """
    try:
        with path.open("rb") as file:
            is_empty = not file.read(1)
        if is_empty or not h5py.is_hdf5(path):
            raise InputError(f"{path} {'is empty' if is_empty else 'is not a netCDF4 file'}; get it again.")
        with h5py.File(path, "r") as file:
            _Inspection(path).group(file.id, "/")
    except PermissionError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}.") from error
    except InputError:
        raise
    except Exception as error:
        # Whatever the HDF5 library stumbles on in a broken file, it is the file that is broken.
        raise InputError(f"{path} is damaged or cut short; get it again.") from error


class _Inspection:
    """A walk through a file that opens objects but reads no array."""

    def __init__(self, path: Path) -> None:
        self._path, self._size = path, path.stat().st_size
        self._objects: set[int] = set()
        self._declared = self._stored = self._attributes = self._text = 0

    def group(self, group: Any, name: str) -> None:
        self._count(group, name)
        if group.get_num_objs() > MOST_OBJECTS:
            self._refuse(f"'{name}' holds {group.get_num_objs()} objects, more than any trace has")
        for link in list(group):
            inside = f"{name.rstrip('/')}/{link.decode('utf-8', 'replace')}"
            if group.links.get_info(link).type != h5py.h5l.TYPE_HARD:
                self._refuse(f"'{inside}' is a link to another place or file, which is not followed")
            found = h5py.h5o.open(group, link)
            if isinstance(found, h5py.h5d.DatasetID):
                self._variable(found, inside)
            elif isinstance(found, h5py.h5g.GroupID):
                if name != "/":
                    self._refuse(f"'{inside}' is a group inside a group, which no trace has")
                self.group(found, inside)
            else:
                self._refuse(f"'{inside}' declares a type of its own, which no trace needs")

    def _count(self, found: Any, name: str) -> None:
        address = h5py.h5o.get_info(found).addr
        if address in self._objects:
            self._refuse(f"'{name}' is there under two names")
        self._objects.add(address)
        if len(self._objects) > MOST_OBJECTS:
            self._refuse(f"it holds more than {MOST_OBJECTS} objects")
        for index in range(h5py.h5a.get_num_attrs(found)):
            self._attribute(h5py.h5a.open(found, index=index), name)

    def _attribute(self, attribute: Any, owner: str) -> None:
        name = f"{owner}@{attribute.name.decode('utf-8', 'replace')}"
        kind, count = attribute.get_type(), _elements(attribute.get_space())
        if attribute.name not in OF_NETCDF:
            self._check_kind(kind, name)
            if _is_text_of_any_length(kind) and count > MOST_WORDS_OF_AN_ATTRIBUTE:
                self._refuse(f"attribute '{name}' has {count} words")
        self._attributes += count * kind.get_size()
        if self._attributes > self._size:
            self._refuse(f"attribute '{name}' declares more than the file holds")

    def _variable(self, variable: Any, name: str) -> None:
        made = variable.get_create_plist()
        # Asked before the shape, for which a virtual dataset might look into other files.
        if made.get_layout() == h5py.h5d.VIRTUAL or made.get_external_count():
            self._refuse(f"'{name}' keeps its numbers in another file, which is not read")
        self._count(variable, name)
        for index in range(made.get_nfilters()):
            if made.get_filter(index)[0] not in FILTERS:
                self._refuse(f"'{name}' is compressed otherwise than by zlib")
        kind = variable.get_type()
        self._check_kind(kind, name)
        count, width, stored = _elements(variable.get_space()), kind.get_size(), variable.get_storage_size()
        chunk = math.prod(made.get_chunk()) if made.get_layout() == h5py.h5d.CHUNKED else 0
        declared = max(count, chunk) * width
        if declared > SMALL and declared > MOST_COMPRESSED * stored:
            self._refuse(f"'{name}' declares {size_in_words(declared)}, of which the file holds next to nothing")
        self._declared += declared
        self._stored += stored
        if self._stored > self._size:
            self._refuse(f"'{name}' and others claim the same bytes of the file")
        if self._declared > available_memory():
            self._refuse(f"it needs more than {size_in_words(self._declared)} of memory, which are not free")
        if _is_text_of_any_length(kind):
            self._check_text(variable, name)

    def _check_kind(self, kind: Any, name: str) -> None:
        if kind.get_class() not in KINDS:
            self._refuse(f"'{name}' holds neither numbers nor text")

    def _check_text(self, variable: Any, name: str) -> None:
        """Many words may point to the same bytes: they are read a few at a time until they exceed the file."""
        words: Any = h5py.Dataset(variable)
        words = words if words.ndim else np.asarray([words[()]])
        at_once, in_a_row = max(16, available_memory() // 8 // self._size), math.prod(words.shape[1:])
        if in_a_row > at_once:
            self._refuse(f"'{name}' has {in_a_row} words in a row")
        rows = at_once // max(1, in_a_row)
        for start in range(0, len(words), rows):
            self._text += sum(len(word) for word in np.ravel(words[start : start + rows]))
            if self._text > self._size:
                self._refuse(f"the words of '{name}' take more room than the file")

    def _refuse(self, reason: str) -> None:
        raise InputError(f"{self._path} is refused: {reason}.")


def _elements(space: Any) -> int:
    if space.get_simple_extent_type() == h5py.h5s.NULL:
        return 0
    return math.prod(int(length) for length in space.get_simple_extent_dims())


def _is_text_of_any_length(kind: Any) -> bool:
    return kind.get_class() == h5py.h5t.STRING and kind.is_variable_str()
