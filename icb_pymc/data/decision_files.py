"""Decisions from and to files: netCDF, or a long table as CSV or Parquet."""

import csv
from pathlib import Path

import pandas as pd
import xarray as xr

from icb_pymc.data.decisions import validate
from icb_pymc.data.tables import Columns, from_table, to_table
from icb_pymc.errors import InputError
from icb_pymc.io.files import existing, replacing
from icb_pymc.io.netcdf import netcdf_bytes
from icb_pymc.io.untrusted import check_netcdf

SUFFIXES = (".nc", ".csv", ".parquet")


def read_decisions(path: str | Path, columns: Columns | None = None) -> xr.Dataset:
    """Read and validate decisions; `columns` says what the columns of a table are called."""
    source = existing(path)
    if _suffix(source) == ".nc":
        return validate(_read_netcdf(source), str(source))
    return from_table(read_table(source), columns, source=str(source))


def write_decisions(decisions: xr.Dataset, path: str | Path) -> None:
    """Write valid decisions; a table holds no truth and no attributes, a netCDF file holds all."""
    suffix = _suffix(Path(path))
    with replacing(path) as temporary:
        if suffix == ".nc":
            temporary.write_bytes(netcdf_bytes({"/": decisions}))
        elif suffix == ".csv":
            to_table(decisions).to_csv(temporary, index=False)
        else:
            _needs_pyarrow()
            to_table(decisions).to_parquet(temporary, index=False)


def read_table(source: Path) -> pd.DataFrame:
    """Read a CSV or Parquet file."""
    try:
        if _suffix(source) == ".parquet":
            _needs_pyarrow()
            return pd.read_parquet(source)
        _refuse_repeated_names(source)
        # Spaces after a comma are for the eye; blank lines are kept, so that lines can be counted.
        return pd.read_csv(source, skip_blank_lines=False, skipinitialspace=True).rename(columns=str.strip)
    except InputError:
        raise
    except pd.errors.EmptyDataError:
        raise InputError(f"{source} has no rows; give one row per candidate per decision.") from None
    except (pd.errors.ParserError, UnicodeDecodeError, OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"{source} cannot be read as a table: {reason}.") from error


def _refuse_repeated_names(source: Path) -> None:
    """pandas would rename the second of two columns in silence."""
    with source.open(encoding="utf-8-sig", newline="") as file:
        names = [name.strip() for name in next(csv.reader(file), [])]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{source}: column '{name}' appears more than once; rename one of them.")


def _read_netcdf(source: Path) -> xr.Dataset:
    check_netcdf(source)
    try:
        with xr.open_dataset(source, engine="h5netcdf") as dataset:
            return dataset.load()
    except Exception as error:
        # Attributes that contradict the arrays can make xarray fail in any way.
        raise InputError(f"{source} is not a netCDF file of decisions.") from error


def _suffix(path: Path) -> str:
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: files of decisions end in {', '.join(SUFFIXES)}.")
    return path.suffix


def _needs_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError("Parquet files need pyarrow: pip install 'icb-pymc[parquet]'.") from None
