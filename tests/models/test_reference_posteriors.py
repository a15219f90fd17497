"""Posteriors of six small problems agree with references that were computed without this package.

The references are in `tests/helpers/references/`: importance sampling, from models written again from their equations.
"""

import json

import numpy as np
import pytest
from helpers.agreement import standard_error
from helpers.references.make_references import FILE, PROBLEMS, QUANTILES
from scipy.stats import norm

from icb_pymc import fit, from_arrays
from icb_pymc.assess.catalogue_calibration import holm
from icb_pymc.results.inference_data import group

REFERENCES = json.loads(FILE.read_text("utf-8"))


def drawn(posterior, steps, agent):
    """The quantities of the references, (chain, draw)."""
    found = {f"log {name}": np.log(values.values) for name, values in posterior.items() if values.ndim == 2}
    if "local_scale" in posterior:
        found["log local_scale"] = np.log(posterior["local_scale"].values[:, :, steps // 2 - 1])
    bent = np.arcsinh if "local_scale" in posterior else np.asarray
    for i in range(2):
        for name in ("rho_env", "population"):
            if name in posterior:
                found[f"{name} {i}"] = posterior[name].values[:, :, i]
        if "belief" in posterior:
            belief = posterior["belief"].values[..., i]
            found |= {f"first belief {i}": belief[:, :, 0], f"middle belief {i}": bent(belief[:, :, steps // 2])}
            found[f"last belief {i}"] = bent(belief[:, :, -1])
            for name in np.unique(agent) if agent is not None else ():
                found[f"last belief of {name} {i}"] = belief[:, :, np.flatnonzero(agent == name)[-1]]
    return found


def scores(draws, expected):
    """Differences of the mean, the variance and the shares below quantiles, in standard errors of both."""
    quantiles = np.array(expected["quantiles"])
    samples = np.stack([draws, (draws - expected["mean"]) ** 2, *(draws < q for q in quantiles)], axis=-1).astype(float)
    theirs = np.array([expected["mean"], expected["sd"] ** 2, *QUANTILES])
    errors = np.array([expected["mean_error"], expected["variance_error"], *expected["share_errors"]])
    return (samples.mean(axis=(0, 1)) - theirs) / np.hypot(standard_error(samples), errors)


def test_references_are_worth_ten_thousand_draws_each_and_hold_their_own_data():
    for name, (_, log) in PROBLEMS.items():
        assert REFERENCES[name]["worth"] >= 10_000
        np.testing.assert_array_equal(REFERENCES[name]["data"]["context"], log.context)
        np.testing.assert_array_equal(REFERENCES[name]["data"]["chosen"], log.chosen)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_draws_agree_with_the_reference(name):
    data, expected = REFERENCES[name]["data"], REFERENCES[name]["quantities"]
    decisions = from_arrays(np.array(data["context"]), data["chosen"], agent=data.get("agent"))
    trace = fit(
        name,
        decisions,
        draws=5000,
        tune=1000,
        chains=4,
        cores=1,
        seed=1,
        every=1,
        log_likelihood=False,
        progressbar=False,
    )
    agent = np.array(data["agent"]) if "agent" in data else None
    found = drawn(group(trace, "posterior"), len(data["chosen"]), agent)
    assert set(expected) <= set(found)
    z = np.concatenate([scores(found[quantity], expected[quantity]) for quantity in expected])
    # A correct sampler fails in one of a thousand runs.
    assert holm(2 * norm.sf(np.abs(z))).min() > 1e-3, dict(zip(expected, z.reshape(len(expected), -1), strict=True))


def test_a_posterior_that_is_a_tenth_of_its_width_away_is_noticed():
    expected = REFERENCES["nb_icb"]["quantities"]["last belief 0"]
    rng = np.random.default_rng(0)
    draws = expected["mean"] + expected["sd"] * (0.1 + rng.standard_normal((4, 5000)))
    assert np.abs(scores(draws, expected)).max() > 6
