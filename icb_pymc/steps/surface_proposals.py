"""Proposals of hyperparameters from a surface through values of their log-density."""

from collections.abc import Callable
from typing import Any

import numpy as np

from icb_pymc.kernels.density_surface import Surface, fit_surface, height, surface_terms, walk_on_surface

# With more hyperparameters a surface would need too many values.
MOST = 12
# Values per term in the first fit. Then rounds add half as many at draws from the last fit, until their standard
# deviation from it is this small, or there have been so many rounds; a surface that is farther off is not used.
VALUES_PER_TERM, CLOSE, ROUNDS, TOO_FAR = 1.5, 0.15, 4, 3.0
# The least standard deviation of what is evaluated first, on the unconstrained scale.
NARROW = 0.3
# Values are found where a surface to the power of one over this is high; so many steps of the walk there per variable.
HEAT, SEARCH = 1.4, 60
# Steps of the walk that makes a proposal, per variable.
STEPS = 25
# After so many further values it is fitted again.
REFIT = 20


class SurfaceProposals:
    """A surface that proposes hyperparameters, and the values that it goes through.

    Attributes
    ----------
    surface : Surface or None
        None before the first is built, and where none can be found.
    points, values : arrays (n, d), (n,)
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the surface."""
        self.surface: Surface | None = None
        self.points, self.values, self._fitted = np.empty((0, 0)), np.empty(0), 0

    @property
    def state(self) -> dict[str, Any] | None:
        """All of it as arrays."""
        if self.surface is None:
            return None
        values = {"points": self.points, "values": self.values, "fitted": self._fitted}
        return {"surface": self.surface._asdict(), **values}

    @state.setter
    def state(self, state: dict[str, Any] | None) -> None:
        self.clear()
        if state is not None:
            self.surface = Surface(**state["surface"])
            self.points, self.values, self._fitted = (state[name] for name in ("points", "values", "fitted"))

    def build(
        self,
        log_density: Callable[[np.ndarray], float],
        mean: np.ndarray,
        covariance: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        """Find the surface of another log-density, whose mean and covariance are about these."""
        d, before = len(mean), self.surface
        self.clear()
        if d > MOST:
            return
        count = int(VALUES_PER_TERM * (len(surface_terms(d)[0]) - 1)) + 5
        if before is None:
            # Estimates from few draws can be much too narrow in some direction.
            frame = mean, np.maximum(np.sqrt(np.diagonal(covariance)), NARROW), np.eye(d)
            radius = np.sqrt(6.0 / rng.chisquare(6.0, size=(count, 1)))
            points = mean + 1.2 * frame[1] * radius * rng.standard_normal((count, d))
        else:
            # Other pseudo-data change the density, but not by much.
            frame, points = _search(before, before.centre, count, rng)
        values = np.array([log_density(point) for point in points])
        for last in range(ROUNDS):
            is_found = np.isfinite(values)
            if is_found.sum() < count // 2:
                return
            points, values = points[is_found], values[is_found]
            surface = fit_surface(points, values, *frame)
            frame, fresh = _search(surface, points[values.argmax()], max(count // 2, 8), rng)
            found = np.array([log_density(point) for point in fresh])
            errors = found - [height(surface, point) for point in fresh]
            error = float(np.std(errors)) if np.isfinite(errors).all() else np.inf
            points, values = np.concatenate([points, fresh]), np.concatenate([values, found])
            if error < CLOSE or (before is not None and last > 0):
                break
        if error < TOO_FAR:
            self.points, self.values, self._fitted = points, values, len(values)
            self.surface = fit_surface(points, values, *frame)

    def add(self, point: np.ndarray, value: float) -> None:
        """Add a value; now and then, the surface is fitted again."""
        if self.surface is None or not np.isfinite(value):
            return
        self.points, self.values = np.concatenate([self.points, point[None]]), np.append(self.values, value)
        if len(self.values) >= self._fitted + REFIT:
            self._fitted = len(self.values)
            self.surface = fit_surface(self.points, self.values, *self.surface[:3])

    def propose(self, current: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        """A draw from the surface that has almost forgotten the current point.

        Returns
        -------
        proposed : array
        log_ratio : float
            Log ratio of the densities of proposing the current point and this one; minus infinity outside the surface.
        """
        assert self.surface is not None
        here = height(self.surface, current)
        if here == -np.inf:
            return current, -np.inf
        proposed = _walk(self.surface, current, STEPS * (len(current) + 1), 1.0, rng)[-1]
        return proposed, here - height(self.surface, proposed)


def _search(
    surface: Surface, start: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """Centre, scale and root of what a walk on the surface visits, not far from its own, and points (count, d)."""
    visited = _walk(surface, start, SEARCH * (len(start) + 4), HEAT, rng)
    deviation = visited - visited.mean(axis=0)
    scale = np.clip(deviation.std(axis=0), 0.5 * surface.scale, 2.0 * surface.scale)
    moved = np.clip(visited.mean(axis=0) - surface.centre, -2.0 * surface.scale, 2.0 * surface.scale)
    covariance = deviation.T @ deviation / len(deviation) / np.outer(scale, scale)
    root = np.linalg.cholesky(covariance + 1e-3 * np.eye(len(scale)))
    chosen = np.linspace(len(visited) // 5, len(visited) - 1, count).astype(int)
    return (surface.centre + moved, scale, root), visited[chosen]


def _walk(surface: Surface, start: np.ndarray, count: int, heat: float, rng: np.random.Generator) -> np.ndarray:
    # Short and long steps, since the surface may be narrower or wider than its root says.
    lengths = rng.uniform(0.3, 1.4, size=(count, 1))
    visited, steps = np.empty((count, len(start))), lengths * rng.standard_normal((count, len(start)))
    walk_on_surface(surface, start, steps, rng.standard_exponential(count), heat, visited)
    return visited
