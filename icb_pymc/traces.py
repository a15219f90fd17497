"""Traces: results as self-contained netCDF files."""

from pathlib import Path

from icb_pymc.errors import InputError
from icb_pymc.files import existing, replacing
from icb_pymc.inference_data import InferenceData, group, group_names, read_groups, write_groups


def write_trace(result: InferenceData, path: str | Path) -> None:
    """Write a result as netCDF; the old file stays whole until the new one is complete."""
    if Path(path).suffix != ".nc":
        raise InputError(f"{path}: traces are netCDF files and end in .nc.")
    with replacing(path) as temporary:
        write_groups(result, temporary)


def read_trace(path: str | Path) -> InferenceData:
    """Read a trace, whichever PyMC line wrote it."""
    source = existing(path)
    try:
        result = read_groups(source)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{source} is not a trace: it cannot be read as netCDF.") from error
    posterior = group(result, "posterior") if "posterior" in group_names(result) else {}
    if "belief" not in posterior and "rho_env" not in posterior:
        raise InputError(f"{source} is not a trace: its posterior has no 'belief' and no 'rho_env'.")
    return result
