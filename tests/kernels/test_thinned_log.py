import numpy as np
import pytest
from helpers.state_spaces import KINDS, long_walk, prior, random_space

from icb_pymc.kernels.thinned_log import can_be_thinned, every_nth_decision


def test_contrasts_of_every_nth_decision_have_the_same_distribution_as_in_the_whole_log():
    rng = np.random.default_rng(0)
    space = long_walk(11, 0.3, contrasts=2)
    space = space._replace(
        move_scale=rng.uniform(0.1, 0.5, 10),
        offset=rng.standard_normal(22),
        sampling_loading=rng.standard_normal((22, 2)),
    )
    kept = np.flatnonzero(np.repeat(np.arange(11) % 3 == 0, 2))
    mean, matrix = prior(space)
    thinned_mean, thinned_matrix = prior(every_nth_decision(space, 3))
    np.testing.assert_allclose(thinned_mean, mean[kept])
    np.testing.assert_allclose(thinned_matrix @ thinned_matrix.T, (matrix @ matrix.T)[np.ix_(kept, kept)], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_only_a_state_that_keeps_still_between_its_moves_can_be_thinned(kind):
    space = random_space(kind)
    has_transition = kind.startswith(("diagonal", "rank one", "dense", "all"))
    assert not can_be_thinned(space)
    assert can_be_thinned(space._replace(drift=np.zeros((1, 3)))) != has_transition
