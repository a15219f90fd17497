"""Bytes in and out, safely; nothing here knows what a decision is.

- `files`: files are written whole or not at all. `netcdf`: datasets as the bytes of a netCDF file.
- `untrusted`: what an HDF5 file declares is checked before any of it is read.
- `attributes`: settings as the JSON text of a file's attributes.
- `machine`: memory and cores that this process may use.
"""
