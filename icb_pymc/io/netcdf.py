"""Datasets as the contents of a netCDF4 file.

They are made in memory and then written like any other bytes: the HDF5 library itself crashes on a full disk, and does
so again when an interrupted file is cleared away.
"""

from collections.abc import Hashable, Mapping
from typing import Any

import h5netcdf
import h5py
import xarray as xr

COMPRESSION = {"zlib": True, "complevel": 4, "shuffle": True}


def netcdf_bytes(groups: Mapping[str, xr.Dataset]) -> bytes:
    """The contents of a netCDF4 file.

    Parameters
    ----------
    groups : mapping of str to Dataset
        By the name of their group; ``"/"`` is the root. Numbers are compressed.
    """
    with h5py.File("memory", "w", driver="core", backing_store=False, track_order=True) as image:
        with h5netcdf.File(image, "w") as file:
            for name, dataset in groups.items():
                store = xr.backends.H5NetCDFStore(file, group=None if name == "/" else name, mode="a")
                # How a dataset was stored where it came from (chunks, digits) says nothing of how it is stored now.
                dataset.drop_encoding().dump_to_store(store, encoding=_encoding(dataset))
        image.flush()
        return image.id.get_file_image()


def _encoding(dataset: xr.Dataset) -> dict[Hashable, Any]:
    return {name: COMPRESSION for name, values in dataset.data_vars.items() if values.dtype.kind in "fiubmM"}
