"""Hyperparameters to be learnt get a prior around their value, in whatever shape they come."""

import json

import numpy as np
import pymc as pm
import pytest

from icb_pymc import fit
from icb_pymc.errors import InputError
from icb_pymc.models import b_icb, nb_icb
from icb_pymc.models.irl.m_fold_irl import m_fold_irl
from icb_pymc.models.nb_icb import paper
from icb_pymc.results.inference_data import group
from icb_pymc.sample.hyperpriors import declare_with_priors
from icb_pymc.steps.linear_gaussian import find_linear_gaussian


def quantiles(model, name):
    draws = pm.draw(model[name], 4000, random_seed=1)
    return np.quantile(draws, [0.1587, 0.5, 0.8413], axis=0)


def test_a_number_gets_a_prior_whose_median_it_is_and_that_is_a_factor_of_e_wide(dated_decisions):
    model = declare_with_priors(nb_icb, dated_decisions, {"alpha": 7.0}, ["alpha"])
    np.testing.assert_allclose(quantiles(model, "alpha"), 7.0 * np.exp([-1, 0, 1]), rtol=0.08)


def test_each_entry_of_a_vector_gets_a_prior_of_its_own(dated_decisions):
    scales = np.array([1e-5, 1e-4, 1e-3, 1e-2])
    model = declare_with_priors(nb_icb, dated_decisions, {"innovation_covariance": scales}, ["innovation_covariance"])
    np.testing.assert_allclose(quantiles(model, "innovation_covariance")[1], scales, rtol=0.1)
    # The engine moves them with the rest.
    learnt = {rv.name for rv in find_linear_gaussian(model).hyperparameters}
    assert learnt == {"innovation_covariance", "start_scale"}


def test_a_matrix_is_multiplied_by_a_scale(dated_decisions):
    published = paper(dated_decisions).hyperparameters
    model = declare_with_priors(nb_icb, dated_decisions, published, ["innovation_covariance"])
    np.testing.assert_allclose(quantiles(model, "innovation_covariance_scale"), np.exp([-1, 0, 1]), rtol=0.08)
    with pm.do(model, {"innovation_covariance_scale": 3.0}) as fixed:
        covariance = fixed["belief"].owner.op.dist_params(fixed["belief"].owner)[2].eval()
    np.testing.assert_allclose(covariance, 3.0 * published["innovation_covariance"])


def test_what_has_a_prior_by_default_keeps_it(dated_decisions):
    plain, asked = b_icb(dated_decisions), declare_with_priors(b_icb, dated_decisions, {}, ["strength"])
    np.testing.assert_allclose(quantiles(asked, "strength"), quantiles(plain, "strength"))


@pytest.mark.parametrize(
    ("given", "name", "sentence"),
    [
        ({}, "strength", "has no hyperparameter 'strength'"),
        ({"sampling_covariance": 0.0}, "sampling_covariance", "only positive values"),
        ({"unit_of_time": "1"}, "unit_of_time", "not a number"),
        ({"start_covariance": 1.0}, "mean_reward", "cannot take it as a random variable"),
    ],
)
def test_what_cannot_be_learnt_is_refused_in_one_sentence(given, name, sentence, dated_decisions):
    with pytest.raises(InputError, match=sentence):
        declare_with_priors(nb_icb, dated_decisions, given, [name])


def test_what_a_model_cannot_take_as_a_variable_is_refused(dated_decisions):
    with pytest.raises(InputError, match="folds"):
        declare_with_priors(m_fold_irl, dated_decisions, {}, ["folds"])


def test_the_hyperparameter_that_cannot_be_a_variable_is_the_one_named(dated_decisions):
    def counted(decisions, *, alpha=1.0, depth=2.0):
        return nb_icb(decisions, alpha=alpha, start_mean=sum(range(int(depth))))

    with pytest.raises(InputError, match="learn depth: 'counted' cannot take it"):
        declare_with_priors(counted, dated_decisions, {}, ["alpha", "depth"])


def test_a_type_error_of_the_model_itself_is_not_blamed_on_what_is_learnt(dated_decisions):
    def broken(decisions, *, alpha=1.0):
        return nb_icb(decisions, alpha=alpha, start_mean=len(None))

    with pytest.raises(TypeError, match="NoneType"):
        declare_with_priors(broken, dated_decisions, {}, ["alpha"])


def test_a_fit_tells_what_was_learnt_and_with_which_prior(dated_decisions):
    options = {"learn": ["alpha"], "progressbar": False, "seed": 0}
    result = fit("nb_icb", dated_decisions, method="laplace", draws=4, **options)
    assert group(result, "posterior")["alpha"].sizes == {"chain": 1, "draw": 4}
    stored = json.loads(result.attrs["hyperparameters"])["alpha"]
    assert stored == {"median": 1.0, "prior": "LogNormal(log median, 1)"}
    with pytest.raises(InputError, match="takes no priors"):
        fit("b_icb", dated_decisions, method="em", **options)
