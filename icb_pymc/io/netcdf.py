"""Datasets as the contents of a netCDF4 file.

They are built in memory and then written like any other bytes: the HDF5 library itself crashes on a full disk, and
crashes again when the unfinished file is closed.
"""

from collections.abc import Hashable, Mapping
from typing import Any

import h5netcdf
import h5py
import numpy as np
import xarray as xr
from xarray.backends.common import ArrayWriter

from icb_pymc.io.compressed_chunks import chunk_shape, write_chunks

COMPRESSION = {"zlib": True, "complevel": 4, "shuffle": True}
# Draws larger than this are compressed by `compressed_chunks`.
LARGE = 1_000_000


def netcdf_bytes(groups: Mapping[str, xr.Dataset]) -> bytes:
    """The contents of a netCDF4 file with the given groups.

    Parameters
    ----------
    groups : mapping of str to Dataset
        Datasets by the name of their group; ``"/"`` is the root. Numbers are compressed.
    """
    with h5py.File("memory", "w", driver="core", backing_store=False, track_order=True) as image:
        with h5netcdf.File(image, "w") as file:
            for name, dataset in groups.items():
                store = xr.backends.H5NetCDFStore(file, group=None if name == "/" else name, mode="a")
                # Settings of the file that a dataset was read from (chunks, digits) must not apply to the new file.
                writer = _Writer(image[name])
                dataset.drop_encoding().dump_to_store(store, encoding=_encoding(dataset), writer=writer)
        image.flush()
        return image.id.get_file_image()


def _encoding(dataset: xr.Dataset) -> dict[Hashable, Any]:
    encoding: dict[Hashable, Any] = {}
    for name, values in dataset.data_vars.items():
        if values.dtype.kind in "fiubmM":
            chunks = {"chunksizes": chunk_shape(values.shape, values.dtype.itemsize)} if _is_large(values) else {}
            encoding[name] = COMPRESSION | chunks
    return encoding


def _is_large(values: xr.DataArray | np.ndarray) -> bool:
    return values.dtype.kind == "f" and values.nbytes > LARGE


class _Writer(ArrayWriter):
    """Writes the values of one group's variables."""

    def __init__(self, group: h5py.Group) -> None:
        super().__init__()
        self._group = group

    def add(self, source: Any, target: Any, region: Any = None) -> None:
        """Write the values `source` of the variable `target`."""
        if isinstance(source, np.ndarray) and _is_large(source):
            write_chunks(self._group[target.variable_name], source)
        else:
            super().add(source, target, region)
