"""Mean paths of many subjects over time, on one scale and at common times."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from icb_pymc.assess.by_subject import by_subject
from icb_pymc.assess.metrics import relative_importance
from icb_pymc.assess.weights import feature_sd, log_odds_weights
from icb_pymc.errors import InputError
from icb_pymc.results.fits import Fits
from icb_pymc.results.inference_data import group
from icb_pymc.results.posterior import draws_of

# Times at which subjects are averaged.
COMMON_TIMES = 200
# A mean over subjects is shown where at least this share of them has decisions.
LEAST_SHARE = 0.5


class SubjectPaths(NamedTuple):
    """Posterior means over time.

    Attributes
    ----------
    paths : dict of str to DataArray (time, feature)
        By subject, at the times that its trace keeps.
    mean, spread : DataArray (time, feature)
        Mean and standard deviation over subjects, at times at which at least half of them have decisions. The mean
        moves by the mean movement of the subjects that are there before and after: one who comes or goes does not move
        it. Where most subjects are there, it is their mean.
    failures : dict of str to str
        Subjects without a path, and why.
    """

    paths: dict[str, xr.DataArray]
    mean: xr.DataArray
    spread: xr.DataArray
    failures: dict[str, str]


def subject_paths(fits: Fits, of: str = "weights", unit: str = "sd", progressbar: bool = False) -> SubjectPaths:
    """Posterior mean of the weights (or the relative importance) of every subject over time.

    Parameters
    ----------
    fits : Fits
    of : {"weights", "importance"}
    unit : {"sd", "user"}
        Of weights: per standard deviation of the feature over all subjects, or per unit of the user's feature.
    progressbar : bool
        Show one.

    Raises
    ------
    InputError
        If no subject has a path, or some have dates and others numbers.
    """
    paths: dict[str, xr.DataArray] = {}

    def answer(subject: str, trace: xr.DataTree) -> list[dict[str, object]]:
        decisions = group(trace, "constant_data")
        if of == "importance":
            paths[subject] = relative_importance(draws_of(trace, "belief")).mean(("chain", "draw"))
            return [{}]
        paths[subject] = log_odds_weights(trace, "user").mean(("chain", "draw"))
        sd = feature_sd(decisions) * decisions.get("feature_scale", 1.0)
        return [{"feature": str(name), "sd": float(sd.sel(feature=name))} for name in sd["feature"].values]

    table, failures = by_subject(fits, answer, progressbar)
    if of == "weights" and unit == "sd":
        common = (table["sd"] ** 2).groupby(table["feature"]).mean() ** 0.5
        for subject, path in paths.items():
            scale = xr.DataArray([common[str(name)] for name in path["feature"].values], dims="feature")
            paths[subject] = path * scale
    mean, spread = over_subjects(list(paths.values()))
    return SubjectPaths(paths, mean, spread, failures)


def over_subjects(paths: list[xr.DataArray]) -> tuple[xr.DataArray, xr.DataArray]:
    """Mean and standard deviation over subjects (time, feature), on times common to all."""
    if len({path["time"].dtype.kind == "M" for path in paths}) > 1:
        raise InputError("some subjects have dates and others have numbered decisions; give them the same times.")
    if any(not np.array_equal(path["feature"].values, paths[0]["feature"].values) for path in paths):
        raise InputError("the subjects have different features; fit them with the same.")
    # The finest unit of all: 3 days and 3 hours are not the same number.
    kind = np.result_type(*(path["time"].dtype for path in paths))
    times = [path["time"].values.astype(kind).astype("int64") for path in paths]
    first, last = min(time[0] for time in times), max(time[-1] for time in times)
    common = np.unique(np.linspace(first, last, COMMON_TIMES).astype("int64"))
    values = np.stack([_at(common, time, path.values) for time, path in zip(times, paths, strict=True)])
    enough = np.isfinite(values[:, :, 0]).mean(axis=0) >= LEAST_SHARE
    labels = {"time": common[enough].astype(kind), "feature": paths[0]["feature"].values}
    values, dims = values[:, enough], ("time", "feature")
    return (
        xr.DataArray(_mean_of_those_present(values), labels, dims),
        xr.DataArray(np.nanstd(values, axis=0), labels, dims),
    )


def _mean_of_those_present(values: np.ndarray) -> np.ndarray:
    """Mean over subjects of values (subject, time, feature), of which some are missing at the beginning or the end."""
    moves = np.zeros(values.shape[1:])
    if values.shape[1] > 1:
        moves[1:] = np.nan_to_num(np.nanmean(np.diff(values, axis=1), axis=0))
    path = moves.cumsum(axis=0)
    fullest = int(np.isfinite(values[:, :, 0]).sum(axis=0).argmax())
    return path - path[fullest] + np.nanmean(values[:, fullest], axis=0)


def _at(common: np.ndarray, time: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A path (time, feature) at common times, NaN outside it."""
    inside = [np.interp(common, time, column, left=np.nan, right=np.nan) for column in values.T]
    return np.stack(inside, axis=1)
