"""Whether choices are as a fitted model predicts: calibration of its choice probabilities, and accuracy.

The probabilities of a choice are those given all other choices: given this one too, the chosen candidate would seem
more probable than it was. They use later choices, so a model that passes may still forecast badly (see
`icb_pymc.one_step_ahead`).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData, group, group_names

BINS, WINDOWS, LEAST_IN_WINDOW = 10, 20, 10
REPLICATES, BAND = 400, (0.05, 0.95)


@dataclass(frozen=True)
class ChoiceCheck:
    """Result of `check_choices`; print it for a summary in one line.

    Attributes
    ----------
    accuracy, expected_accuracy, chance : float
        Share of decisions at which the most probable candidate was chosen, its expectation if the probabilities are
        right, and its expectation for random choices. Decisions without an alternative are left out.
    calibration : DataFrame
        By bins of predicted probability: `predicted` mean, `observed` share, `count` of candidates, and `low` and
        `high`, between which the share lies in nine of ten logs if the probabilities are right.
    calibration_error : float
        Mean absolute difference of observed shares and predictions.
    expected_error : tuple of float
        Range of `calibration_error` in nine of ten logs if the probabilities are right.
    over_time : DataFrame
        `accuracy`, `expected_accuracy` and `chance` in successive windows of `count` decisions, from `start` to `end`.
    is_calibrated : bool
        Whether `calibration_error` is within the range expected.
    """

    accuracy: float
    expected_accuracy: float
    chance: float
    calibration: pd.DataFrame
    calibration_error: float
    expected_error: tuple[float, float]
    over_time: pd.DataFrame

    @property
    def is_calibrated(self) -> bool:
        """Whether the calibration error is no larger than chance alone explains."""
        return self.calibration_error <= self.expected_error[1]

    def __str__(self) -> str:
        low, high = self.expected_error
        fit = "as expected" if self.is_calibrated else "more than expected: the model's probabilities are off"
        return (
            f"{self.accuracy:.0%} are the candidate that the model considers most probable (it expects "
            f"{self.expected_accuracy:.0%}; by chance {self.chance:.0%}); "
            f"calibration error {self.calibration_error:.3f}, {fit} ({low:.3f} to {high:.3f} if the model is right)"
        )


def has_probabilities(trace: InferenceData) -> bool:
    """Whether a trace holds the choice probabilities that the checks need, of more than one candidate."""
    return "choice_probabilities" in group_names(trace) and bool(_open(trace).any())


def why_not_checked(trace: InferenceData) -> str:
    """Why the choices of a trace cannot be checked; empty if they can."""
    if "choice_probabilities" in group_names(trace):
        return "" if bool(_open(trace).any()) else "no decision had more than one candidate"
    posterior, times = group(trace, "posterior"), group(trace, "constant_data").sizes.get("time", 0)
    kept = posterior.sizes.get("time", times)
    if kept < times:
        return (
            f"the trace keeps {kept} of {times} times and no choice probabilities: fit it again with all times "
            "(every=1, or --every 1)"
        )
    return (
        "the trace has no choice probabilities: they were not asked for, were too large, or were left out when it was "
        "shared, or the method or model has none"
    )


def check_choices(trace: InferenceData) -> ChoiceCheck:
    """Compare the choices in a trace with the probabilities that its draws give them.

    Parameters
    ----------
    trace : InferenceData
        Of `icb_pymc.fit`, with the group `choice_probabilities`.

    Returns
    -------
    ChoiceCheck

    Raises
    ------
    InputError
        If the trace has no choice probabilities, or no decision had more than one candidate.
    """
    if "choice_probabilities" not in group_names(trace):
        raise InputError(
            "this trace has no choice probabilities: fit it again, with all times and with the log-likelihood; point "
            "estimates by EM or T-REX have none."
        )
    is_open = _open(trace)
    if not is_open.any():
        raise InputError("no decision of this trace had more than one candidate: there is nothing to predict.")
    probability = group(trace, "choice_probabilities")["probability"].values[is_open]
    available = group(trace, "constant_data")["available"].values.astype(bool)[is_open]
    chosen = group(trace, "observed_data")["chosen"].values[is_open]
    time = group(trace, "constant_data")["time"].values[is_open]

    replicated = replicated_choices(probability)
    bins = np.minimum((probability * BINS).astype(int), BINS - 1)
    observed = _shares(chosen[None], bins, available)[0]
    shares = _shares(replicated, bins, available)
    counts = np.bincount(bins[available], minlength=BINS)
    filled = counts > 0
    predicted = np.bincount(bins[available], probability[available], BINS)[filled] / counts[filled]
    low, high = np.quantile(shares[:, filled], BAND, axis=0)
    calibration = pd.DataFrame(
        {"predicted": predicted, "observed": observed[filled], "count": counts[filled], "low": low, "high": high}
    )
    errors = np.abs(shares[:, filled] - predicted) @ counts[filled] / counts.sum()
    hit, expected, chance = probability.argmax(axis=1) == chosen, probability.max(axis=1), 1 / available.sum(axis=1)
    lower, upper = np.quantile(errors, BAND)
    return ChoiceCheck(
        float(hit.mean()),
        float(expected.mean()),
        float(chance.mean()),
        calibration,
        float(np.abs(observed[filled] - predicted) @ counts[filled] / counts.sum()),
        (float(lower), float(upper)),
        _over_time(time, hit, expected, chance),
    )


def replicated_choices(probability: np.ndarray) -> np.ndarray:
    """Slots (replicate, time) drawn from probabilities (time, action), by inversion of their cumulative sums."""
    edges = np.cumsum(probability, axis=1)[:, :-1] / probability.sum(axis=1, keepdims=True)
    uniform = np.random.default_rng(0).random((REPLICATES, len(probability), 1))
    return (uniform > edges).sum(axis=-1)


def _open(trace: InferenceData) -> np.ndarray:
    """Decisions with more than one candidate."""
    return group(trace, "constant_data")["available"].values.sum(axis=1) > 1


def _shares(chosen: np.ndarray, bins: np.ndarray, available: np.ndarray) -> np.ndarray:
    """Share of the candidates in each bin that were chosen (replicate, bin), for choices (replicate, time)."""
    steps = np.arange(bins.shape[0])
    counts = np.maximum(np.bincount(bins[available], minlength=BINS), 1)
    return np.array([np.bincount(bins[steps, row], minlength=BINS) / counts for row in chosen])


def _over_time(time: np.ndarray, hit: np.ndarray, expected: np.ndarray, chance: np.ndarray) -> pd.DataFrame:
    windows = np.array_split(np.arange(len(time)), max(1, min(WINDOWS, len(time) // LEAST_IN_WINDOW)))
    rows = [
        {
            "start": time[window[0]],
            "end": time[window[-1]],
            "count": len(window),
            "accuracy": hit[window].mean(),
            "expected_accuracy": expected[window].mean(),
            "chance": chance[window].mean(),
        }
        for window in windows
    ]
    return pd.DataFrame(rows)
