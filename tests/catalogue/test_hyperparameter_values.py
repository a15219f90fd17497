"""Values that no model can use are refused by name, before anything is sampled."""

import numpy as np
import pymc as pm
import pytest
from helpers.model_texts import write

from icb_pymc import fit, simulate
from icb_pymc.catalogue.lookup import settings
from icb_pymc.cli import main
from icb_pymc.errors import InputError
from icb_pymc.models import b_icb, nb_icb
from icb_pymc.models.irl import cp_irl, m_fold_irl


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"alpha": float("nan")}, "alpha=nan: give a finite number"),
        ({"alpha": float("inf")}, "alpha=inf: give a finite number"),
        ({"alpha": 1e308}, r"alpha=1e\+308 is too large"),
        ({"alpha": True}, "alpha=True: give a number; the default is 1"),
        ({"alpha": None}, "alpha=None: give a number"),
        ({"alpha": -1}, "alpha=-1: it cannot be negative"),
        ({"lapse": 1.0}, "lapse=1: it is a probability; give a number from 0 to less than 1"),
        ({"lapse": -0.1}, "lapse=-0.1: it is a probability"),
        ({"lapse": [0.1, 0.2]}, "lapse=.*: give one number"),
        ({"lapse": pm.HalfNormal.dist(1.0)}, "lapse: it is one probability; give a prior like Beta"),
        ({"lapse": pm.Uniform.dist(-0.6, 0.6)}, "lapse: it is one probability"),
        ({"lapse": pm.Beta.dist(1, 20, shape=2)}, "lapse: it is one probability"),
        ({"start_mean": [0.0, float("nan")]}, r"start_mean=\[0.0, nan\]: give a finite number"),
        ({"total_movement": -0.5}, "total_movement=-0.5: it cannot be negative"),
        ({"start_scale": [1.0, -1.0]}, r"start_scale=\[1.0, -1.0\]: it cannot be negative"),
        ({"innovation_covariance": -1e-4}, "innovation_covariance=-0.0001: it cannot be negative"),
        ({"start_covariance": np.array([[1.0, 2.0], [2.0, 1.0]])}, "smallest eigenvalue is -1"),
        ({"start_covariance": np.array([[1.0, 0.5], [0.0, 1.0]])}, "not symmetric"),
        ({"start_covariance": np.ones((2, 3))}, "2 x 3 is not square"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_by_name(given, sentence):
    with pytest.raises(InputError, match=sentence):
        settings(nb_icb, given)


@pytest.mark.parametrize(
    "given",
    [
        {"start_mean": -3.0},
        {"alpha": 0},
        {"alpha": pm.HalfNormal.dist(2.0)},
        {"lapse": 0},
        {"lapse": pm.Beta.dist(1, 20)},
        {"lapse": pm.Uniform.dist(0, 0.2)},
        {"sampling_covariance": np.zeros((2, 2))},
        {"total_movement": None},
        {"mean_reward": lambda rho, context: rho},
    ],
)
def test_what_a_model_can_use_is_left_to_it(given):
    assert settings(nb_icb, given)[next(iter(given))] is next(iter(given.values()))


def test_none_is_left_to_a_model_whose_annotation_says_that_it_takes_it():
    assert settings(cp_irl, {"segments": None})["segments"] is None


def test_the_names_of_scales_are_those_of_all_models():
    for declare, name in ((b_icb, "strength"), (b_icb, "rho_env_scale"), (m_fold_irl, "prior_covariance")):
        with pytest.raises(InputError, match=f"{name}=-2: it cannot be negative"):
            settings(declare, {name: -2})


def test_the_command_line_says_it_before_it_samples(tmp_path, capsys):
    log, trace = str(tmp_path / "log.nc"), tmp_path / "trace.nc"
    assert main(["simulate", "stepping", "--steps", "10", "-o", log]) == 0
    assert main(["fit", "nb_icb", log, "--set", "alpha=none", "-o", str(trace)]) == 2
    assert capsys.readouterr().err.endswith("alpha=None: give a number; the default is 1.\n")
    assert not trace.exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("    return None\n", "it returns NoneType, not a pm.Model: end it with `return model`"),
        ("    return 3.0\n", "it returns float"),
        ("    return pm.Model()\n", "there is no `chosen`"),
        (
            "    with decisions_model(decisions) as model:\n"
            "        weights = pm.Normal('weights', dims='feature')\n"
            "        choose((model['context'] * weights).sum(-1))\n"
            "    return model\n",
            "there is neither `belief` nor `rho_env`",
        ),
    ],
)
def test_a_function_that_is_no_model_is_refused_in_the_words_of_the_modeller(text, sentence, tmp_path):
    head = "import pymc as pm\nfrom icb_pymc.declare import choose, decisions_model\n\n\ndef own(decisions):\n"
    path = write(tmp_path, "own", head + text)
    with pytest.raises(InputError, match=f"the model 'own' cannot be fitted: {sentence}"):
        fit(path, simulate("stepping", steps=10, random_seed=0), progressbar=False)
