"""Change points of a preference: score every segment of a log once, then divide it best into any number of them."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from rich.console import Console
from rich.progress import track
from scipy.special import gammaln

from icb_pymc.data.decisions import validate
from icb_pymc.data.standardisation import contrast_spread
from icb_pymc.declare.folds import check_prior, checked_count, contrasts_of, prior_moments
from icb_pymc.errors import InputError
from icb_pymc.kernels.segment_scores import evidence_of_segments, likelihood_of_segments
from icb_pymc.kernels.segmentation import best_boundaries, best_segmentations, log_sum_over_segmentations
from icb_pymc.kernels.weights_metropolis import PAPER_SCALE, contrast_columns

SCORES = ("evidence", "likelihood")
# Decisions in a sub-trajectory, as in the paper, and how many sub-trajectories a long log is divided into: the cost of
# the table is the square of their number times the number of decisions.
LENGTH, MOST_BLOCKS = 10, 200
# Progress is shown of tables that take longer than a few seconds: of more decisions in all segments than this.
MUCH_WORK = 50_000_000


@dataclass(frozen=True, eq=False)
class SegmentTable:
    """Scores of all segments that consist of whole sub-trajectories.

    Attributes
    ----------
    scores : array (S, S+1)
        Entry [i, j] is that of sub-trajectories i to j - 1.
    boundaries : array (S+1,)
        Where sub-trajectories begin and end, in decisions: 0, ..., T.
    score : {"evidence", "likelihood"}
        What the scores are.
    """

    scores: np.ndarray
    boundaries: np.ndarray
    score: str

    @property
    def name(self) -> str:
        """Description that is stored in a trace instead of the table."""
        return f"{self.score} of {np.isfinite(self.scores).sum()} segments"

    @property
    def blocks(self) -> int:
        """Number of sub-trajectories S."""
        return len(self.boundaries) - 1

    def change_points(self, segments: Any) -> np.ndarray:
        """t^(0) = 0 < t^(1) < ... < t^(M) = T of the best division into M segments."""
        number = checked_count("segments", segments, self.blocks, "sub-trajectories")
        _, last = best_segmentations(self.scores, number)
        return self.boundaries[best_boundaries(last, number)]

    def fold_of_decision(self, segments: Any) -> np.ndarray:
        """The segment of each decision (time,) in the best division."""
        ends = self.change_points(segments)[1:]
        return np.searchsorted(ends, np.arange(ends[-1]), side="right")

    def log_evidence(self) -> np.ndarray:
        """log p(choices | M) for M = 1, ..., S, with all C(S - 1, M - 1) divisions equally likely a priori."""
        if self.score != "evidence":
            raise InputError("the number of segments is chosen by evidence: use score 'evidence', or give segments.")
        m = np.arange(self.blocks)
        log_divisions = gammaln(self.blocks) - gammaln(m + 1) - gammaln(self.blocks - m)
        return log_sum_over_segmentations(self.scores, self.blocks) - log_divisions

    def most_probable_number(self) -> int:
        """The number of segments with the highest evidence."""
        return int(np.argmax(self.log_evidence())) + 1


def default_length(steps: int) -> int:
    """Decisions per sub-trajectory: 10, or in a log of more than 2,000 so many that there are 200 of them.

    Examples
    --------
    >>> default_length(500), default_length(8119)
    (10, 41)
    """
    return max(LENGTH, -(-steps // MOST_BLOCKS))


def score_segments(
    decisions: xr.Dataset,
    *,
    length: Any = None,
    alpha: Any = 1.0,
    prior: str = "gaussian",
    prior_mean: Any = None,
    prior_covariance: Any = None,
    score: str = "evidence",
    score_seed: int = 0,
) -> SegmentTable:
    """Score every candidate segment under one constant preference.

    Parameters
    ----------
    decisions : Dataset
        Decisions with `chosen`.
    length : int, optional
        Decisions per sub-trajectory; the last one may be shorter. By default 10, or in a log of more than 2,000
        decisions so many that there are 200 sub-trajectories.
    alpha, prior, prior_mean, prior_covariance
        As in `b_irl`, but only numbers: they are needed before anything is sampled.
    score : {"evidence", "likelihood"}
        ``"evidence"`` is log p(choices of the segment) with the weights integrated out, which penalises short segments
        for weights that they cannot determine; by Laplace's method, whose error on segments of 10 to 500
        semi-synthetic decisions was at most 0.8. ``"likelihood"`` is that of Likmeta et al. (2021), the likelihood of
        each segment at its own estimate; as in the published experiments the estimate is the mean of 1,000 draws of
        B-IRL (every tenth of 10,000 after 10,000, from -1/k), scaled to unit L1 norm.
    score_seed : int
        Seed of those draws.

    Returns
    -------
    SegmentTable

    Raises
    ------
    InputError
        If the decisions or an option are not valid, or evidence is asked for under a flat prior.

    Examples
    --------
    >>> import numpy as np
    >>> import icb_pymc
    >>> context = np.tile([[[1.0], [0.0]]], (40, 1, 1))
    >>> decisions = icb_pymc.from_arrays(context, [0] * 20 + [1] * 20)
    >>> score_segments(decisions, alpha=1.0, prior_covariance=4.0).change_points(2)
    array([ 0, 20, 40])
    """
    validate(decisions)
    check_prior(prior, prior_mean, prior_covariance)
    steps, features = decisions.sizes["time"], decisions.sizes["feature"]
    size = min(default_length(steps), steps) if length is None else checked_count("length", length, steps, "decisions")
    boundaries = np.append(np.arange(0, steps, size), steps)
    try:
        sharpness = float(alpha)
        mean, covariance = (moment.eval() for moment in prior_moments(decisions, alpha, prior_mean, prior_covariance))
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError("change points are computed before sampling: give alpha and the prior as numbers.") from error
    contrasts = contrasts_of(decisions, sharpness)
    # Weights in units of their prior standard deviations, so that features of 1e-8 and of 1e8 go together.
    unit = np.ones(features) if prior == "flat" else _deviations(covariance, decisions)
    precision = np.zeros((features, features)) if prior == "flat" else _inverse(covariance / np.outer(unit, unit))
    if score == "likelihood":
        if sharpness == 0:
            raise InputError("alpha=0: choices that are uniform have no change points; give a positive alpha.")
        rng = np.random.Generator(np.random.SFC64(int(score_seed)))
        walk = (PAPER_SCALE / sharpness, 10_000, 1_000, 10)
        columns = contrast_columns(contrasts)
        scores = likelihood_of_segments(columns, boundaries, mean, precision / np.outer(unit, unit), *walk, rng)
        if np.isnan(scores).any():
            raise InputError(
                f"{_largest(decisions)}, so large that the random walk of score 'likelihood' never leaves its start: "
                "standardise the features, or use score 'evidence'."
            )
    elif score == "evidence":
        if prior == "flat":
            raise InputError(
                "evidence is not defined under a flat prior: use the default prior, or score 'likelihood'."
            )
        scaled = contrasts._replace(values=contrasts.values * unit)
        progress = _progress(len(boundaries) - 1, size)
        try:
            scores = evidence_of_segments(scaled, boundaries, mean / unit, precision, progress)
        except np.linalg.LinAlgError:
            scores = np.full((1, 1), np.nan)
        if np.isnan(scores).any():
            raise InputError(
                f"{_largest(decisions, sharpness * unit)} times alpha and the standard deviation of its weight, too "
                "large to compute evidence with: standardise the features, or give a smaller alpha or prior_covariance."
            )
    else:
        raise InputError(f"score={score!r}: it must be {' or '.join(repr(word) for word in SCORES)}.")
    return SegmentTable(scores, boundaries, score)


def _deviations(covariance: np.ndarray, decisions: xr.Dataset) -> np.ndarray:
    """Standard deviations (feature,) of weights a priori; raises InputError if one is zero or infinite."""
    variance = np.diag(covariance)
    bad = ~((variance > 0) & np.isfinite(variance))
    if bad.any():
        name, value = decisions["feature"].values[bad][0], variance[bad][0]
        raise InputError(
            f"the prior variance of the weight of '{name}' is {value:g}, so that segments cannot be scored: give a "
            "prior_covariance that is positive and finite, or leave it out."
        )
    return np.sqrt(variance)


def _inverse(correlation: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.inv(correlation)
    except np.linalg.LinAlgError:
        raise InputError("prior_covariance is singular: segments are scored only under one that is not.") from None


def _largest(decisions: xr.Dataset, factor: np.ndarray | float = 1.0) -> str:
    """The beginning of a sentence: which feature has the largest differences between candidates, and how large."""
    size = contrast_spread(decisions) * factor * np.ones(decisions.sizes["feature"])
    largest = int(np.argmax(size))
    return f"feature '{decisions['feature'].values[largest]}' differs between candidates by {size[largest]:.3g}"


def _progress(blocks: int, size: int) -> Any:
    """Goes through the rows of a table, and shows on a terminal how far it is if that takes long."""
    # There are S - d segments of d + 1 sub-trajectories.
    work = size * blocks * (blocks + 1) * (blocks + 2) // 6
    words = f"change points at every {size} decisions: scores of {blocks * (blocks + 1) // 2} segments"

    def show(rows: Iterable[int]) -> Iterable[int]:
        is_shown = work > MUCH_WORK and sys.stderr.isatty()
        return track(rows, words, disable=not is_shown, transient=True, console=Console(stderr=True))

    return show
