import numpy as np
import pytest

from icb_pymc.declare.folds import has_proper_posterior


@pytest.mark.parametrize(
    ("contrasts", "expected"),
    [
        ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], True),
        ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], False),
        ([[1.0, 0.0], [-1.0, 0.0], [2.0, 0.0]], False),
        ([[1.0, 0.2], [-1.0, 0.3], [0.1, -1.0]], True),
        ([[1.0, 0.2], [-1.0, 0.3]], False),
    ],
    ids=["errors both ways", "one feature always obeyed", "one feature never varies", "triangle", "too few"],
)
def test_the_posterior_is_proper_unless_the_likelihood_does_not_fall_in_some_direction(contrasts, expected):
    assert has_proper_posterior(np.array(contrasts)) == expected


def test_the_result_agrees_with_the_likelihood_at_large_weights():
    """If the posterior is proper, the log-likelihood falls linearly even in the best of many directions."""
    rng = np.random.default_rng(0)
    angle = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    directions = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    results = []
    for _ in range(60):
        contrasts = rng.normal(size=(5, 2))
        slowest_fall = np.maximum(directions @ contrasts.T, 0.0).sum(axis=1).min()
        results.append(has_proper_posterior(contrasts))
        assert results[-1] == (slowest_fall > 0)
    assert 0 < sum(results) < 60
