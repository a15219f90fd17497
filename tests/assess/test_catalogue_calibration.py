"""All models of the catalogue are checked in one table, whose p-values are corrected for their number."""

import json

import numpy as np
import pandas as pd
import pytest

from icb_pymc import simulate
from icb_pymc.assess import catalogue_calibration
from icb_pymc.assess.calibration import Check
from icb_pymc.assess.catalogue_calibration import WITHOUT_POSTERIOR, CatalogueCheck, holm
from icb_pymc.assess.rank_uniformity import uniform_p_values
from icb_pymc.catalogue.built_in import built_in
from icb_pymc.catalogue.lookup import find
from icb_pymc.cli import main
from icb_pymc.declare.spec import spec_of

SMALL = ["--replicates", "10", "--steps", "8", "--draws", "60", "--jobs", "1"]


@pytest.fixture
def two_models(monkeypatch):
    entries = [entry for entry in built_in() if entry.name in ("i_spi", "stationary", "uniform")]
    monkeypatch.setattr(catalogue_calibration, "entries", lambda: iter(entries))


def checked(**p_values):
    """The result of a check with these p-values of quantities."""
    table = pd.DataFrame({"p_value": p_values, "ess": 100.0, "verdict": "its posterior is too narrow"})
    return Check("it", (), pd.DataFrame(), table.rename_axis("quantity"))


def test_the_command_writes_a_table_of_all_models_and_their_quantities(two_models, tmp_path, capsys):
    path = tmp_path / "calibration.md"
    assert main(["check", "--all", *SMALL, "-o", str(path), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["passed"], result["replicates"], result["steps"]) == (True, 10, 8)
    assert {row["model"] for row in result["quantities"]} == {"i_spi", "stationary"}
    assert all(row["p_value"] <= row["corrected"] <= 1 for row in result["quantities"])
    rows = [line for line in path.read_text("utf-8").splitlines() if line.startswith(("| `i_spi`", "| `stationary`"))]
    assert len(rows) == 2 + len(result["quantities"])
    assert "icb check --all --replicates 10 --steps 8 --seed 0" in path.read_text("utf-8")


def test_one_quantity_is_enough_to_fail_but_not_at_the_level_of_a_single_test():
    settings = {"replicates": 100, "steps": 20, "seed": 0}
    right = CatalogueCheck(settings, {"one": checked(a=0.006, b=0.5), "two": checked(a=0.4)})
    assert right.passed
    assert "No corrected p-value is below 0.01." in str(right)
    wrong = CatalogueCheck(settings, {"one": checked(a=0.5, b=0.5), "two": checked(a=0.001)})
    assert (wrong.passed, wrong.wrong) == (False, [("two", "a")])
    assert "`two` is wrong: of a, its posterior is too narrow." in str(wrong)
    broken = CatalogueCheck(settings, {"one": checked(a=0.5), "two": Check("two", ("it has no choices.",))})
    assert not broken.passed
    assert "`two` is wrong: it has no choices." in str(broken)


def test_holms_correction_is_that_of_its_definition():
    p_values = np.array([0.04, 0.001, 0.02, 0.7])
    # Multiplied by 2, 4, 3 and 1, and never below that of a smaller one.
    np.testing.assert_allclose(holm(p_values), [0.08, 0.004, 0.06, 0.7])
    np.testing.assert_allclose(holm(np.array([0.02, 0.021, 0.9])), [0.06, 0.06, 0.9])


def test_a_p_value_can_be_small_enough_to_fail_among_hundreds_of_quantities():
    assert 500 * uniform_p_values(np.full((50, 1), 0.99))[0] < 0.01


@pytest.mark.parametrize("name", WITHOUT_POSTERIOR)
def test_models_that_are_left_out_have_no_posterior_of_what_they_estimate(name):
    declare = find(name)
    if name in ("uniform", "switching"):
        log = simulate(name, steps=6, actions=2, seed=0)
        assert declare(log).free_RVs == []
    else:
        assert spec_of(declare).hindsight or spec_of(declare).estimate


def test_options_of_one_model_are_refused(tmp_path, capsys):
    for options in (
        ["nb_icb", "--all"],
        ["--all", "--set", "alpha=2"],
        ["--all", "--agents", "3"],
        ["--all", "--sessions", "2"],
        [],
    ):
        assert main(["check", *options]) == 2
    assert main(["check", "--all", "-o", str(tmp_path / "table.png")]) == 2
    assert "must end in .md" in capsys.readouterr().err
