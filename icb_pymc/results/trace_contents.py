"""What a trace from anywhere must hold before it is read further: words, numbers, finite draws and probabilities."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from icb_pymc.data.coding import coding_of
from icb_pymc.data.decisions import LARGEST
from icb_pymc.data.schema import POSTERIOR_DIMS
from icb_pymc.errors import InputError
from icb_pymc.io.attributes import check_kinds
from icb_pymc.results.inference_data import InferenceData, group

WORDS = (
    *("model", "method", "kernel", "approximation", "preset", "sampler", "icb_pymc"),
    *("model_digest", "hindsight", "left_out", "unconverged", "shared"),
)
NUMBERS = ("seed", "interrupted", "draws", "chains", "tune", "seconds", "drawing_seconds", "log_evidence")
LIKELIHOOD_DIMS, PROBABILITY_DIMS = ("chain", "draw", "time"), ("time", "action")
# Probabilities may be rounded where they are stored.
ROUNDING = 0.01


def check_contents(result: InferenceData, decisions: xr.Dataset, source: str) -> None:
    """Raise `InputError` unless what a trace declares about itself, and its numbers, can be meant.

    Parameters
    ----------
    result : InferenceData
        With the groups and dimensions of a trace.
    decisions : Dataset
        The valid decisions inside it.
    source : str
        What to call it in messages.
    """
    check_kinds(result.attrs, WORDS, NUMBERS, f"{source} is not a trace")
    coding_of(decisions)
    posterior = group(result, "posterior")
    for name in POSTERIOR_DIMS:
        if name in posterior and not _is_computable(posterior[name].values):
            raise _refused(source, name, "draws that are missing, infinite or too large to compute with")
    sizes = {str(dim): size for dim, size in posterior.sizes.items()} | dict(decisions.sizes)
    likelihood = _numbers(result, "log_likelihood", "chosen", LIKELIHOOD_DIMS, sizes, source)
    if likelihood is not None and not (_is_computable(likelihood) and (likelihood <= ROUNDING).all()):
        raise _refused(source, "chosen", "log-likelihoods that are missing, infinite or above zero")
    probability = _numbers(result, "choice_probabilities", "probability", PROBABILITY_DIMS, sizes, source)
    if probability is not None:
        open_ones = probability[decisions["available"].values.sum(axis=1) > 1]
        is_share = (open_ones >= -ROUNDING) & (open_ones <= 1 + ROUNDING)
        if not is_share.all() or (np.abs(open_ones.sum(axis=1) - 1) > ROUNDING).any():
            raise _refused(source, "probability", "numbers that are not the probabilities of the candidates")


def _numbers(
    result: InferenceData, where: str, name: str, dims: tuple[str, ...], sizes: Mapping[Any, int], source: str
) -> np.ndarray | None:
    """The numbers of an optional group, which must be there if the group is."""
    found = group(result, where)
    if not found.data_vars and not found.sizes:
        return None
    expected = tuple(sizes[dim] for dim in dims)
    if name not in found or found[name].dims != dims or found[name].shape != expected or found[name].dtype.kind != "f":
        raise InputError(
            f"{source} is not a trace: its {where} has no '{name}' of real numbers over {dims}, sizes {expected}."
        )
    return found[name].values


def _is_computable(numbers: np.ndarray) -> bool:
    return bool(np.isfinite(numbers).all()) and float(np.abs(numbers).max(initial=0.0)) <= LARGEST


def _refused(source: str, name: str, what: str) -> InputError:
    return InputError(f"{source} is not a trace: its '{name}' holds {what}.")
