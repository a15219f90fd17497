"""Models are looked up by name, by path, by registration or by entry point; bad ones are reported in one sentence."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest
from helpers.arrivals import make_arrivals
from helpers.model_texts import HEAD, PLAIN, write

from icb_pymc import fit, from_arrays, register, simulate
from icb_pymc.catalogue import lookup as catalogue
from icb_pymc.catalogue.model_files import digest_of
from icb_pymc.cli import main
from icb_pymc.errors import InputError
from icb_pymc.models import nb_icb
from icb_pymc.results.inference_data import group


@pytest.fixture
def empty_registry(monkeypatch):
    """No registered models; those that a test registers are removed after it."""
    monkeypatch.setattr(catalogue, "_registered", {})


def test_a_function_is_taken_as_it_is_and_a_name_may_have_hyphens():
    assert catalogue.find(nb_icb) is nb_icb
    assert catalogue.find("nb-icb") is nb_icb


@pytest.mark.parametrize("name", ["plain", "another"])
def test_a_file_is_a_model_by_its_name_or_by_its_only_function_of_decisions(name, tmp_path):
    path = write(tmp_path, name, PLAIN)
    decisions = simulate(path, arrivals=make_arrivals(12, 2, 2), seed=1)
    assert decisions.attrs["agent"] == "plain"
    assert decisions["true_weights"].dims == ("feature",)
    trace = fit(
        path, decisions, draws=10, tune=10, chains=1, cores=1, seed=1, progressbar=False, hyperparameters={"scale": 0.5}
    )
    assert trace.attrs["model"] == "plain"
    assert trace.attrs["model_digest"] == digest_of(path)
    assert not any(str(tmp_path) in str(value) for value in trace.attrs.values())
    assert group(trace, "posterior")["belief"].shape == (1, 10, 12, 2)
    assert group(trace, "log_likelihood")["chosen"].shape == (1, 10, 12)


def test_a_file_that_was_changed_is_read_again(tmp_path):
    path = write(tmp_path, "plain", PLAIN)
    assert catalogue.summary_of(catalogue.find(path)) == "rho_t = w for all t."
    write(tmp_path, "plain", PLAIN.replace("rho_t = w for all t.", "otherwise"))
    assert catalogue.summary_of(catalogue.find(path)) == "otherwise"


TWO = "def one(decisions): 1\ndef two(decisions): 2\n"
BAD = {
    "there is no such file": None,
    r"bad.py: it contains no model; declare one as a function 'bad\(decisions\)'": "x = 1\n",
    r"several functions of decisions \(one, two\); name the model 'bad'": TWO,
    "'bad' has no parameters; a model is a function of decisions": "def bad(): 1\n",
    "bad.py, line 2: expected": "\ndef bad(decisions) return\n",
    "bad.py, line 3: ZeroDivisionError: division by zero": "\n\nx = 1 / 0\n",
    "bad.py, line 2: ModuleNotFoundError: No module named 'nowhere_at_all'": "\nimport nowhere_at_all\n",
}


@pytest.mark.parametrize("sentence", BAD)
def test_a_file_that_is_not_a_model_is_reported_with_file_and_line(sentence, tmp_path):
    text = BAD[sentence]
    path = str(tmp_path / "bad.py") if text is None else write(tmp_path, "bad", text)
    with pytest.raises(InputError, match=sentence):
        catalogue.find(path)


def test_an_error_in_a_model_is_reported_with_its_line(tmp_path):
    path = write(tmp_path, "broken", HEAD + "\ndef broken(decisions):\n    return decisions['nothing']\n")
    with pytest.raises(InputError, match=r"broken\.py, line 6: KeyError"):
        simulate(path, steps=5)


@pytest.mark.usefixtures("empty_registry")
def test_a_registered_model_is_known_by_name_and_listed(tmp_path, capsys):
    @register
    def of_mine(decisions, *, alpha=1.0):
        """Of mine."""
        return nb_icb(decisions, alpha=alpha)

    register(write(tmp_path, "plain", PLAIN), "by_path")
    assert catalogue.find("of-mine") is of_mine
    assert simulate("by_path", arrivals=make_arrivals(5, 2, 2)).sizes["time"] == 5
    assert main(["models"]) == 0
    printed = capsys.readouterr().out
    assert "registered models\n  of_mine" in printed
    assert "Of mine." in printed
    with pytest.raises(InputError, match="did you mean 'of_mine'"):
        catalogue.find("of_min")


@pytest.mark.usefixtures("empty_registry")
@pytest.mark.parametrize(
    ("model", "name", "sentence"),
    [
        (nb_icb, "b_icb", "a built-in model is called 'b_icb'"),
        (nb_icb, "not so", "cannot be the name"),
        (lambda: None, "empty", "must be a function of decisions"),
        ("nowhere.py", None, "no such file"),
    ],
)
def test_bad_registrations_are_refused(model, name, sentence):
    with pytest.raises(InputError, match=sentence):
        register(model, name)


def test_a_package_provides_models_by_entry_points(monkeypatch, capsys):
    points = [
        EntryPoint("theirs", "icb_pymc.models.nb_icb:nb_icb", catalogue.GROUP),
        EntryPoint("torn", "icb_pymc.models.nb_icb:nothing", catalogue.GROUP),
    ]
    monkeypatch.setattr(catalogue, "entry_points", lambda group: points)
    assert catalogue.find("theirs") is nb_icb
    with pytest.raises(InputError, match="'torn' cannot be loaded from"):
        catalogue.find("torn")
    assert main(["models"]) == 0
    assert "theirs" in capsys.readouterr().out


def test_a_hyperparameter_without_a_default_must_be_given():
    def needy(decisions, *, depth):
        return nb_icb(decisions, alpha=depth)

    with pytest.raises(InputError, match="'needy' needs a value for its hyperparameter 'depth'"):
        catalogue.settings(needy, {})


def test_custom_steps_come_from_the_spec_or_from_the_call(tmp_path):
    text = PLAIN + "\n\nspecify(plain, steps=lambda model: pm.Slice([model['weights']]))\n"
    decisions = simulate(write(tmp_path, "plain", PLAIN), arrivals=make_arrivals(8, 2, 2), seed=1)
    options = {"draws": 5, "tune": 5, "chains": 1, "cores": 1, "progressbar": False, "seed": 1}
    assert fit(write(tmp_path, "stepped", text), decisions, **options).attrs["sampler"] == "slice"
    by_call = fit(nb_icb, decisions, **options, step=lambda model: __import__("pymc").NUTS())
    assert by_call.attrs["sampler"] == "nuts"
    with pytest.raises(InputError, match="both given"):
        fit(nb_icb, decisions, **options, kernel="nuts", step=lambda model: [])


def test_icb_new_writes_a_model_that_can_be_described_and_simulated_and_is_never_overwritten(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "my_learner.py"]) == 0
    text = (tmp_path / "my_learner.py").read_text()
    assert "def my_learner(decisions, *" in text
    assert "my_model" not in text
    assert "type: ignore" not in text
    assert len(text.splitlines()) <= 36
    assert main(["models", "./my_learner.py"]) == 0
    printed = capsys.readouterr().out
    assert "learning_rate  None" in printed
    assert "softmax" in printed
    assert main(["simulate", "./my_learner.py", "--steps", "12", "-o", "log.nc"]) == 0
    assert main(["new", "my_learner.py"]) == 2
    assert "already exists and was not overwritten" in capsys.readouterr().err
    assert main(["new", "my-learner.py"]) == 2
    assert main(["new", "nowhere/my_learner.py"]) == 2
    assert (tmp_path / "my_learner.py").read_text() == text


def test_icb_new_hierarchical_writes_a_model_of_subjects_that_needs_only_their_log(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "--hierarchical", "subjects.py"]) == 0
    assert "icb check subjects.py --agents 5 --observed-rewards" in capsys.readouterr().out
    assert "my_model" not in (tmp_path / "subjects.py").read_text()
    context = np.random.default_rng(0).normal(size=(6, 2, 2))
    decisions = from_arrays(context, [0, 1, 1, 0, 1, 0], agent=[1, 2, 1, 2, 1, 2], reward=np.arange(6.0))
    model = catalogue.find("./subjects.py")(decisions)
    assert model.eval_rv_shapes()["alpha_noise"] == (2,)
    assert [rv.name for rv in model.observed_RVs] == ["reward", "chosen"]
