"""Decisions from and to files: netCDF, or a table as CSV or Parquet."""

from pathlib import Path

import pandas as pd
import xarray as xr

from icb_pymc.data.columns import Columns
from icb_pymc.data.decisions import validate
from icb_pymc.data.tables import from_table, to_table
from icb_pymc.errors import InputError
from icb_pymc.io.csv_tables import read_csv
from icb_pymc.io.files import existing, replacing
from icb_pymc.io.netcdf import netcdf_bytes
from icb_pymc.io.parquet_tables import read_parquet, require_pyarrow
from icb_pymc.io.untrusted import check_netcdf

SUFFIXES = (".nc", ".csv", ".parquet")


def read_decisions(path: str | Path, columns: Columns | None = None, *, like: xr.Dataset | None = None) -> xr.Dataset:
    """Read decisions from a file and validate them.

    Parameters
    ----------
    path : str or Path
        A netCDF file (``.nc``), or a table (``.csv`` or ``.parquet``): long, wide or one row per trial, see `Columns`.
    columns : Columns, optional
        The names of the columns of a table, where they differ from the defaults, and its features.
    like : Dataset, optional
        Decisions whose formula and coding those of a table are to share.

    Returns
    -------
    Dataset
        See `from_arrays`.

    Raises
    ------
    InputError
        One sentence that names the file, and the line and column of a table, and says what to do. Files are not
        trusted: one that links to other files or declares far more than it holds is refused before it is read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import icb_pymc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.csv")
    ...     _ = path.write_text("offer,chosen,age\\n1,1,50\\n1,0,60\\n2,0,55\\n2,1,45\\n")
    ...     decisions = icb_pymc.read_decisions(path, icb_pymc.Columns(decision="offer"))
    >>> decisions["chosen"].values
    array([0, 1])
    """
    source = existing(path)
    if _suffix(source) == ".nc":
        return validate(_read_netcdf(source), str(source))
    return from_table(read_table(source), columns, source=str(source), like=like)


def write_decisions(decisions: xr.Dataset, path: str | Path) -> None:
    """Write decisions to a file.

    Parameters
    ----------
    decisions : Dataset
        Valid decisions.
    path : str or Path
        A netCDF file (``.nc``), which holds everything, or a table (``.csv`` or ``.parquet``), which holds neither
        true weights nor attributes. An existing file is replaced once the new one is complete.

    Raises
    ------
    InputError
        If the name has another ending, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[50.0], [60.0]], [[55.0], [45.0]]], [0, 1], features=["age"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.nc")
    ...     icb_pymc.write_decisions(decisions, path)
    ...     icb_pymc.read_decisions(path).identical(decisions)
    True
    """
    suffix = _suffix(Path(path))
    with replacing(path) as temporary:
        if suffix == ".nc":
            temporary.write_bytes(netcdf_bytes({"/": decisions}))
        elif suffix == ".csv":
            to_table(decisions).to_csv(temporary, index=False)
        else:
            require_pyarrow()
            to_table(decisions).to_parquet(temporary, index=False)


def read_table(source: Path) -> pd.DataFrame:
    """Read a CSV or Parquet file."""
    return read_parquet(source) if _suffix(source) == ".parquet" else read_csv(source)


def _read_netcdf(source: Path) -> xr.Dataset:
    check_netcdf(source)
    try:
        with xr.open_dataset(source, engine="h5netcdf") as dataset:
            return dataset.load()
    except Exception as error:
        # Attributes that contradict the arrays can make xarray fail in many ways.
        raise InputError(f"{source} is not a netCDF file of decisions.") from error


def _suffix(path: Path) -> str:
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: the name of a file of decisions must end in {', '.join(SUFFIXES)}.")
    return path.suffix
