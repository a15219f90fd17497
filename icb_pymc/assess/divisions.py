"""The posterior over all divisions of a log into segments of constant preference.

Let the log have T decisions, so that a preference may change before any of n = T - 1 of them. A priori each is a change
with probability p, independently, and p ~ Beta(1, n / c) is integrated out. A division with m changes then has
probability

    g(m) = B(1 + m, n / c + n - m) / B(1, n / c),

whichever its dates are. "No change" has probability 1 / (1 + c) and the expected number of changes is close to c,
whatever the length of the log; for a long log the number is geometric.

On a grid, an inner boundary b_s stands for the h_s dates that are nearest to it: its *cell*. A change at one of these
dates is treated as one at b_s, so that a division of the grid with m changes weighs g(m) times the product of its h_s.
This is the prior above, restricted to divisions with at most one change per cell; where cells hold one decision each it
is exact. Refining a grid changes neither n nor g, only the cells.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np
from scipy.special import betaln

from icb_pymc.kernels.metropolis import Contrasts
from icb_pymc.kernels.segment_scores import draw_preference, fill_evidence_row, laplace_gaussian
from icb_pymc.kernels.segmentation import draw_segmentations, log_sums_of_beginnings, log_sums_of_completions

# Cells with at least this posterior probability of a change are refined, into so many parts at a time.
WORTH_REFINING, PARTS = 0.05, 16

# Of Newton's method. Through the determinant, log evidences then differ from those at the exact mode by up to about its
# square root: far less than the error of Laplace's method.
TOLERANCE = 1e-6
# Of the draws of a segment's preference.
METROPOLIS_STEPS = 10


def even_grid(steps: int, length: int) -> np.ndarray:
    """Boundaries 0, length, 2 length, ..., T of blocks; the last one may be shorter."""
    return np.append(np.arange(0, steps, length), steps)


def cells(boundaries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last date that each inner boundary stands for: those nearest to it, (S-1,) each.

    A date is the number of decisions before the change, 1, ..., T - 1. Each belongs to exactly one cell.
    """
    inner = boundaries[1:-1]
    last = np.append((inner[:-1] + inner[1:]) // 2, boundaries[-1] - 1)
    first = np.append(1, last[:-1] + 1)
    return first[: len(inner)], last[: len(inner)]


def log_prior_of_changes(steps: int, expected: float, most: int) -> np.ndarray:
    """log g(m) of one division with m = 0, ..., `most` changes of T decisions: (most+1,)."""
    if steps == 1:
        return np.zeros(1)
    dates = steps - 1
    m = np.arange(most + 1)
    rest = dates / expected
    return betaln(1 + m, rest + dates - m) - betaln(1, rest)


class Divisions:
    """The posterior over the divisions of a grid, by exact summation.

    Parameters
    ----------
    boundaries : array (S+1,)
        Of the blocks of the grid, in decisions: 0, ..., T.
    evidence : array (S, S+1)
        Entry [i, j] is the log evidence of one preference on blocks i to j - 1, minus infinity if j <= i.
    expected_changes : float
        c of the prior.
    """

    def __init__(self, boundaries: np.ndarray, evidence: np.ndarray, expected_changes: float) -> None:
        self.boundaries, self.evidence = boundaries, evidence
        self.blocks = len(boundaries) - 1
        self.first_of_cell, self.last_of_cell = cells(boundaries)
        self.cell_sizes = self.last_of_cell - self.first_of_cell + 1
        self._scores = evidence.copy()
        self._scores[1:] += np.log(self.cell_sizes)[:, None]
        self._log_prior = log_prior_of_changes(int(boundaries[-1]), expected_changes, self.blocks - 1)
        self._beginnings = log_sums_of_beginnings(self._scores, self.blocks)
        self._completions = log_sums_of_completions(self._scores, self._log_prior)

    @property
    def log_evidence(self) -> float:
        """log p(choices), summed over all divisions."""
        return float(self._completions[0, 0])

    @property
    def log_no_change(self) -> float:
        """log P(no change)."""
        return float(min(0.0, self._log_prior[0] + self._beginnings[1, -1] - self.log_evidence))

    def of_number(self) -> np.ndarray:
        """P(m changes) for m = 0, ..., S - 1: (S,)."""
        return np.exp(self._log_prior + self._beginnings[1:, -1] - self.log_evidence)

    def of_boundaries(self) -> np.ndarray:
        """P(change in each cell): (S-1,)."""
        joint = np.exp(self._beginnings[:, 1:-1] + self._completions[:, 1:-1] - self.log_evidence)
        return joint.sum(axis=0)

    def of_dates_given(self, changes: int) -> np.ndarray:
        """P(j-th change in each cell | this number of changes): (changes, S-1)."""
        only = np.full(self.blocks, -np.inf)
        only[changes] = 0.0
        completions = log_sums_of_completions(self._scores, only)
        ordered = slice(1, changes + 1), slice(1, -1)
        return np.exp(self._beginnings[ordered] + completions[ordered] - completions[0, 0])

    def of_any_between(self, first: int, last: int) -> float:
        """P(at least one change in the cells of inner boundaries number first, ..., last, counted from 0)."""
        without = self._scores.copy()
        without[first + 1 : last + 2] = -np.inf
        return float(-np.expm1(log_sums_of_completions(without, self._log_prior)[0, 0] - self.log_evidence))

    def draw(self, draws: int, rng: np.random.Generator) -> np.ndarray:
        """Independent draws: whether a segment begins at each block (draws, S)."""
        return draw_segmentations(self._scores, self._completions, draws, rng)


def divide(
    contrasts: Contrasts,
    boundaries: np.ndarray,
    mean: np.ndarray,
    precision: np.ndarray,
    expected_changes: float,
    *,
    most_blocks: int | None = None,
    track: Callable[[Iterable[int], str], Iterable[int]] = lambda rows, name: rows,
) -> Divisions:
    """Posterior over the divisions of a grid, which is refined towards single decisions around probable dates.

    Parameters
    ----------
    contrasts : Contrasts
    boundaries : array (S+1,)
        The first grid.
    mean, precision : arrays (k,) and (k, k)
        Of the Gaussian prior of each segment's preference.
    expected_changes : float
        c of the prior of divisions.
    most_blocks : int, optional
        Refine as long as there are at most so many blocks; by default not at all.
    track : callable
        Wraps the rows of a table to show progress.

    Returns
    -------
    Divisions
    """
    evidence = _empty_table(len(boundaries) - 1)
    while True:
        for i in track(range(len(boundaries) - 1), f"evidence of segments, {len(boundaries) - 1} blocks"):
            fill_evidence_row(contrasts, boundaries, i, mean, precision, evidence, TOLERANCE)
        divisions = Divisions(boundaries, evidence, expected_changes)
        finer = boundaries if most_blocks is None else refined(divisions, most_blocks)
        if len(finer) == len(boundaries):
            return divisions
        # Most segments of the finer grid are new, but those of the coarse one need not be computed again.
        kept = np.searchsorted(finer, boundaries)
        larger = _empty_table(len(finer) - 1)
        larger[np.ix_(kept[:-1], kept)] = evidence
        boundaries, evidence = finer, larger


def refined(divisions: Divisions, most_blocks: int) -> np.ndarray:
    """Boundaries of the grid with the gaps on both sides of probable dates divided, the most probable first."""
    boundaries, probability = divisions.boundaries, divisions.of_boundaries()
    new: set[int] = set()
    for s in np.argsort(-probability, kind="stable"):
        if probability[s] < WORTH_REFINING:
            break
        added: set[int] = set()
        for low, high in zip(boundaries[s : s + 2], boundaries[s + 1 : s + 3], strict=True):
            added |= set(range(low, high, -(-(high - low) // PARTS)))
        grown = new | added
        if len(set(boundaries.tolist()) | grown) - 1 > most_blocks:
            break
        new = grown
    return np.array(sorted(set(boundaries.tolist()) | new))


def draw_weights(
    divisions: Divisions,
    begins: np.ndarray,
    contrasts: Contrasts,
    mean: np.ndarray,
    precision: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """The preference in each block (draws, S, k), drawn from the posterior of its segment."""
    gaussians: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
    draws, blocks = begins.shape
    weights = np.empty((draws, blocks, len(mean)))
    for draw in range(draws):
        ends = [*np.flatnonzero(begins[draw]), blocks]
        for i, j in pairwise(ends):
            start, stop = divisions.boundaries[[i, j]]
            if (i, j) not in gaussians:
                mode, curvature = laplace_gaussian(contrasts, start, stop, mean, precision)
                # With P = L L', the noise L'^-1 z has covariance P^-1.
                gaussians[i, j] = mode, np.ascontiguousarray(np.linalg.inv(np.linalg.cholesky(curvature)).T)
            weights[draw, i:j] = draw_preference(
                contrasts, start, stop, mean, precision, *gaussians[i, j], METROPOLIS_STEPS, rng
            )
    return weights


def _empty_table(blocks: int) -> np.ndarray:
    """NaN for the segments that are to be scored, minus infinity below."""
    return np.where(np.arange(blocks + 1) > np.arange(blocks)[:, None], np.nan, -np.inf)
