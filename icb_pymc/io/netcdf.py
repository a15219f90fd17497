"""Datasets as the contents of a netCDF4 file.

They are built in memory and then written like any other bytes: the HDF5 library itself crashes on a full disk, and
crashes again when the unfinished file is closed.
"""

from collections.abc import Hashable, Mapping
from typing import Any

import h5netcdf
import h5py
import xarray as xr

COMPRESSION = {"zlib": True, "complevel": 4, "shuffle": True}


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
                dataset.drop_encoding().dump_to_store(store, encoding=_encoding(dataset))
        image.flush()
        return image.id.get_file_image()


def _encoding(dataset: xr.Dataset) -> dict[Hashable, Any]:
    return {name: COMPRESSION for name, values in dataset.data_vars.items() if values.dtype.kind in "fiubmM"}
