import numpy as np
import pytest

from icb_pymc.declare.folds import pins_down


@pytest.mark.parametrize(
    ("contrasts", "expected"),
    [
        ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], True),
        ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], False),
        ([[1.0, 0.0], [-1.0, 0.0], [2.0, 0.0]], False),
        ([[1.0, 0.2], [-1.0, 0.3], [0.1, -1.0]], True),
        ([[1.0, 0.2], [-1.0, 0.3]], False),
    ],
    ids=["errors either way", "one feature always obeyed", "one feature never seen", "triangle", "too few"],
)
def test_choices_pin_weights_down_unless_some_direction_costs_nothing(contrasts, expected):
    assert pins_down(np.array(contrasts)) == expected


def test_the_verdict_is_that_of_the_likelihood_far_out():
    """Along the best of many directions the log-likelihood falls linearly if weights are pinned down."""
    rng = np.random.default_rng(0)
    angle = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    directions = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    verdicts = []
    for _ in range(60):
        contrasts = rng.normal(size=(5, 2))
        slowest_fall = np.maximum(directions @ contrasts.T, 0.0).sum(axis=1).min()
        verdicts.append(pins_down(contrasts))
        assert verdicts[-1] == (slowest_fall > 0)
    assert 0 < sum(verdicts) < 60
