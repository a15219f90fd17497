import numpy as np
import pytest

from icb_pymc.steps.elliptical_slice import elliptical_slice


def test_the_chain_samples_the_posterior_of_a_gaussian_prior_and_likelihood():
    """x ~ N(1, 4) observed as 3 with noise N(0, 1): the posterior is N(2.6, 0.8)."""
    rng, x, draws = np.random.default_rng(0), 1.0, []
    for _ in range(20_000):
        fresh = 2.0 * rng.standard_normal()

        def at_angle(angle, x=x, fresh=fresh):
            moved = 1.0 + (x - 1.0) * np.cos(angle) + fresh * np.sin(angle)
            return -0.5 * (moved - 3.0) ** 2, moved

        _, x = elliptical_slice(at_angle, at_angle(0.0)[0], rng)
        draws.append(x)
    assert np.mean(draws) == pytest.approx(2.6, abs=0.05)
    assert np.var(draws) == pytest.approx(0.8, abs=0.05)
