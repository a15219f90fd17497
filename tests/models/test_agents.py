"""The seven agents of the paper, and the switching one of its appendix."""

import numpy as np
import pymc as pm
import pytest
import xarray as xr

from icb_pymc import simulate
from icb_pymc.data.decisions import validate
from icb_pymc.errors import InputError
from icb_pymc.models import agents

LEARNERS = ("sampling", "optimistic", "greedy")
SCRIPTED = ("stationary", "stepping", "linear", "regressing")
ALPHA, SIGMA = 20.0, 0.10


@pytest.fixture(scope="session")
def learners(arrivals):
    """One draw of every variable of the learning agents' graphs, the noise of each decision included."""
    names = ("belief", "rho", "chosen", "reward", "rho_noise", "choice_noise")
    drawn = {}
    for name in LEARNERS:
        model = getattr(agents, name)(arrivals)
        values = pm.draw([model[variable] for variable in names], random_seed=3)
        drawn[name] = dict(zip(names, values, strict=True))
    return drawn


def conjugate_updates(arrivals, drawn):
    """Equation 1 as printed, with inverses: all (mu_t, Sigma_t)."""
    features = arrivals.sizes["feature"]
    mean = np.full(features, -1 / features)
    covariance = SIGMA**2 / (arrivals.sizes["time"] / 50) * np.eye(features)
    means, covariances = [], []
    for t, action in enumerate(drawn["chosen"]):
        means.append(mean)
        covariances.append(covariance)
        x = arrivals["context"].values[t, action]
        precision = np.linalg.inv(covariance)
        updated = np.linalg.inv(precision + np.outer(x, x) / SIGMA**2)
        mean = updated @ (precision @ mean + drawn["reward"][t] * x / SIGMA**2)
        covariance = updated
    return np.array(means), np.array(covariances)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_recorded_belief_is_the_conjugate_update_by_the_recorded_rewards(name, learners, arrivals):
    means, _ = conjugate_updates(arrivals, learners[name])
    np.testing.assert_allclose(learners[name]["belief"], means, atol=1e-10)


def test_sampling_acts_on_a_draw_from_its_belief(learners, arrivals):
    drawn = learners["sampling"]
    means, covariances = conjugate_updates(arrivals, drawn)
    whitened = np.array(
        [
            np.linalg.solve(np.linalg.cholesky(c), r - m)
            for r, m, c in zip(drawn["rho"], means, covariances, strict=True)
        ]
    )
    # Chi-squared with time x feature degrees of freedom; a covariance wrong by half is eight standard deviations off.
    degrees = whitened.size
    assert abs((whitened**2).sum() - degrees) < 4 * np.sqrt(2 * degrees)
    assert not np.allclose(drawn["rho"], drawn["belief"])


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_differ_only_in_the_choice_rule_of_the_paper(name, learners, arrivals):
    drawn = learners[name]
    context = arrivals["context"].values
    means, covariances = conjugate_updates(arrivals, drawn)
    rho = drawn["rho"] if name == "sampling" else means
    utility = np.einsum("tak,tk->ta", context, rho)
    if name == "optimistic":
        utility = utility + np.einsum("tak,tkl,tal->ta", context, covariances, context)
    noisy = np.where(arrivals["available"], ALPHA * utility + drawn["choice_noise"], -np.inf)
    np.testing.assert_array_equal(drawn["chosen"], noisy.argmax(axis=1))


def test_optimism_changes_choices_only_when_the_bonus_is_scaled_by_alpha():
    arguments = {"steps": 200, "actions": 3, "seed": 1}
    strength = {"strength": 0.1}
    greedy = simulate("greedy", strength, **arguments)["chosen"]
    scaled = simulate("optimistic", strength, **arguments)["chosen"]
    unscaled = simulate("optimistic", strength | {"scaled_bonus": False}, **arguments)["chosen"]
    assert (greedy != scaled).sum() > (greedy != unscaled).sum()


def softmax_score(decisions: xr.Dataset, alpha: float) -> float:
    """Standardised score of alpha: standard normal if choices are the softmax of alpha <rho_t, x_t[a]>."""
    utility = np.einsum("tak,tk->ta", decisions["context"], decisions["true_rho"])
    weight = np.where(decisions["available"], np.exp(alpha * utility), 0.0)
    probability = weight / weight.sum(axis=1, keepdims=True)
    expected = (probability * utility).sum(axis=1)
    variance = (probability * utility**2).sum(axis=1) - expected**2
    taken = utility[np.arange(len(utility)), decisions["chosen"]]
    return (taken - expected).sum() / np.sqrt(variance.sum())


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["sampling", "linear"])
def test_action_frequencies_agree_with_the_softmax_of_the_recorded_rho(name):
    decisions = simulate(name, steps=3000, actions=3, seed=5)
    assert abs(softmax_score(decisions, ALPHA)) < 4
    assert abs(softmax_score(decisions, 0.5 * ALPHA)) > 6


@pytest.mark.parametrize("name", SCRIPTED)
def test_scripted_agents_follow_the_trajectory_of_the_appendix(name, arrivals):
    steps, features = arrivals.sizes["time"], arrivals.sizes["feature"]
    rho_env, uniform = arrivals["true_rho_env"].values, np.full(features, -1 / features)
    turn = steps / 2

    def expected(t):
        if name == "stationary":
            return rho_env
        if name == "stepping":
            return uniform if t <= turn else rho_env
        if name == "linear":
            return t / steps * rho_env + (1 - t / steps) * uniform
        if t <= turn:
            return t / turn * rho_env + (1 - t / turn) * uniform
        lost = (t - turn) / (steps - turn)
        return lost * (0.3 * rho_env + 0.7 * uniform) + (1 - lost) * rho_env

    options = {"gamma": 0.3} if name == "regressing" else {}
    decisions = simulate(name, options, arrivals=arrivals)
    trajectory = np.array([expected(t) for t in range(1, steps + 1)])
    np.testing.assert_allclose(decisions["true_belief"], trajectory, atol=1e-12)
    np.testing.assert_allclose(decisions["true_rho"], trajectory, atol=1e-12)


@pytest.mark.parametrize("name", agents.__all__)
def test_decisions_of_every_agent_are_valid_and_contain_the_truth(name, tmp_path):
    decisions = simulate(name, steps=30, seed=2)
    path = tmp_path / "decisions.nc"
    decisions.to_netcdf(path, engine="h5netcdf")
    with xr.open_dataset(path) as opened:
        validate(opened.load())
        assert opened["true_belief"].dims == ("time", "feature")
        assert opened.attrs["agent"] == name
        assert opened.attrs["synthetic"] == 1
        assert ("true_rho_env" in opened) == (name != "switching")


def test_decisions_are_determined_by_the_seed():
    first, again, other = (simulate("sampling", steps=40, seed=seed) for seed in (7, 7, 8))
    xr.testing.assert_identical(first, again)
    assert not np.array_equal(first["true_reward"], other["true_reward"])


def test_quadratic_agents_weigh_squares_that_the_observer_does_not_record():
    decisions = simulate("stationary", steps=3000, seed=1, arrivals=None)
    from icb_pymc.environments.semi_synthetic import semi_synthetic

    quadratic = simulate("stationary", seed=1, arrivals=semi_synthetic(3000, 2, 1, quadratic=True))
    assert abs(softmax_score(decisions, ALPHA)) < 4
    assert abs(softmax_score(quadratic.assign(context=quadratic["reward_context"]), ALPHA)) < 4
    assert abs(softmax_score(quadratic, ALPHA)) > 6


@pytest.mark.parametrize(
    ("agent", "options", "sentence"),
    [
        ("samplin", {}, "did you mean 'sampling'"),
        ("sampling", {"hyperparameters": {"gamma": 1.0}}, "no hyperparameter 'gamma'"),
        ("sampling", {"steps": 0}, "steps must be at least 1"),
        ("regressing", {"hyperparameters": {"gamma": 2.0}}, "gamma=2.0 must lie"),
    ],
)
def test_invalid_simulations_are_refused(agent, options, sentence):
    with pytest.raises(InputError, match=sentence):
        simulate(agent, **options)
