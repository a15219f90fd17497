import json
from dataclasses import replace
from itertools import pairwise

import pytest
from helpers.model_texts import PLAIN, write

from icb_pymc.catalogue.model_files import digest_of
from icb_pymc.errors import InputError
from icb_pymc.reproduce.algorithms import user_algorithm
from icb_pymc.reproduce.log import Log, decisions_of_log, history_log
from icb_pymc.reproduce.paper_tables import TABLES
from icb_pymc.reproduce.unit import in_order, make_unit
from icb_pymc.reproduce.work import run


@pytest.fixture(scope="module")
def unit(small):
    return make_unit("5-fold IRL", Log("stepping", 30, 2, 0), "exact", small)


def test_any_setting_changes_the_digest(unit, small):
    others = [
        replace(unit, log=replace(unit.log, seed=1)),
        replace(unit, log=replace(unit.log, steps=31)),
        replace(unit, log=replace(unit.log, quadratic=True)),
        replace(unit, preset="paper"),
        replace(unit, sampling=(("draws", 21),)),
        replace(unit, kept=(11, 15)),
        replace(unit, version="0"),
        make_unit("10-fold IRL", unit.log, "exact", small),
    ]
    digests = {unit.digest, *(other.digest for other in others)}
    assert len(digests) == 1 + len(others)
    assert replace(unit).digest == unit.digest


def test_the_seed_depends_on_the_name_so_that_a_longer_run_continues_a_shorter_one(unit):
    assert replace(unit, sampling=(("draws", 21),)).seed == unit.seed
    assert replace(unit, log=replace(unit.log, seed=1)).seed != unit.seed


def test_a_file_that_moved_is_the_same_log_and_one_that_changed_is_not(tmp_path, small):
    paths = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for path, text in zip(paths, ("x", "x", "y"), strict=True):
        path.write_text(text)
    first, moved, changed = (make_unit("NB-ICB", history_log(60, 3, 0, str(p)), "exact", small) for p in paths)
    assert first.digest == moved.digest
    assert first.digest != changed.digest
    assert first.name != changed.name
    paths[0].write_text("z")
    with pytest.raises(InputError, match="changed while it was in use"):
        decisions_of_log(first.log)


def test_an_unknown_algorithm_is_refused(small):
    with pytest.raises(InputError, match="no algorithm called 'X-IRL'"):
        make_unit("X-IRL", Log("stepping", 30, 2, 0), "exact", small)


def test_a_reproduction_stopped_early_has_a_run_in_every_cell_and_runs_on_a_log_stay_together(small):
    units = [unit for number in (2, 4, 6) for unit in TABLES[number].units("exact", small)]
    ordered = in_order(units)
    assert len(ordered) == len(set(units)) < len(units)
    half = ordered[: len(ordered) // 2]
    assert {unit.log.seed for unit in half} == {0}
    assert {(unit.log.agent, unit.algorithm.label) for unit in half} == {
        (u.log.agent, u.algorithm.label) for u in units
    }
    assert ordered[0].log.agent == "switching"
    logs = [unit.log for unit in ordered]
    assert 1 + sum(a != b for a, b in pairwise(logs)) == len(set(logs))


def test_a_model_that_learns_hyperparameters_is_run_for_longer(small):
    log = Log("stepping", 30, 2, 0)
    longer, plain = (dict(make_unit(label, log, "exact", small).sampling) for label in ("B-ICB", "B-IRL"))
    assert longer["draws"] > plain["draws"]
    assert longer == dict(make_unit("NB-ICB", log, "exact", small).sampling)
    assert dict(make_unit("B-ICB", log, "paper", small).sampling) == small.paper


@pytest.mark.parametrize("label", ["B-IRL", "5-fold IRL", "5-fold CP-IRL"])
def test_where_weights_have_either_sign_no_prior_assumes_one(label, small):
    switching, stepping = Log("switching", 60, 2, 0), Log("stepping", 30, 2, 0)
    assert dict(make_unit(label, switching, "exact", small).algorithm.settings)["prior_mean"] == 0
    # Known to be around -1/k, or flat as published.
    assert dict(make_unit(label, stepping, "exact", small).algorithm.settings)["prior_mean"] == -1 / 8
    assert "prior_mean" not in dict(make_unit(label, switching, "paper", small).algorithm.settings)


def test_a_row_that_the_paper_does_not_have_is_run_under_the_preset_exact_only(small):
    exact, paper = (TABLES[6].units(preset, small) for preset in ("exact", "paper"))
    assert {unit.algorithm.label for unit in exact} - {unit.algorithm.label for unit in paper} == {"Shrinkage NB-ICB"}
    shrinkage = next(unit for unit in exact if unit.algorithm.label == "Shrinkage NB-ICB")
    assert dict(shrinkage.sampling) == small.exact_learning
    assert shrinkage.algorithm.settings == ()


def test_a_user_defined_model_is_a_row_identified_by_the_contents_of_its_file(tmp_path, small):
    (tmp_path / "elsewhere").mkdir()
    paths = [write(tmp_path, "plain", PLAIN), write(tmp_path / "elsewhere", "plain", PLAIN)]
    paths.append(write(tmp_path, "other", PLAIN.replace("scale=1.0", "scale=2.0")))
    algorithm = user_algorithm(paths[0])
    assert algorithm.label == f"plain ({digest_of(paths[0])[:6]})"
    table = replace(TABLES[2], user_algorithms=(algorithm,))
    units = [unit for unit in table.units("exact", small) if unit.algorithm == algorithm]
    assert len(units) == len(small.agents) * small.seeds
    first, moved, changed = (make_unit(user_algorithm(path), units[0].log, "exact", small) for path in paths)
    assert first.digest == moved.digest == units[0].digest
    assert first.digest != changed.digest
    assert dict(first.sampling) == small.exact_learning
    built_in = json.loads(make_unit("NB-ICB", units[0].log, "exact", small).description)
    assert "file_digest" not in built_in["algorithm"]


def test_a_user_defined_model_never_shares_a_file_with_another_algorithm(tmp_path, small):
    log = Log("stepping", 30, 2, 0)
    (tmp_path / "elsewhere").mkdir()
    text = PLAIN.replace("def plain", "def nb_icb")
    paths = [write(tmp_path, "nb_icb", text), write(tmp_path / "elsewhere", "nb_icb", text.replace("2.0", "3.0"))]
    built_in, first, second = (
        make_unit(algorithm, log, "exact", small)
        for algorithm in ("NB-ICB", user_algorithm(paths[0]), user_algorithm(paths[1]))
    )
    assert built_in.name == "stepping_nb-icb_exact_seed-0"
    assert len({built_in.name, first.name, second.name}) == 3
    assert len({unit.algorithm.label.lower() for unit in (built_in, first, second)}) == 3
    assert first.name == f"stepping_nb-icb-{digest_of(paths[0])[:6]}_exact_seed-0"
    # The same file gives the same name in any process.
    assert make_unit(user_algorithm(paths[0]), log, "exact", small).name == first.name


def test_a_run_of_a_model_whose_file_has_changed_is_refused(tmp_path, small):
    path = write(tmp_path, "plain", PLAIN)
    unit = make_unit(user_algorithm(path), Log("stepping", 30, 2, 0), "exact", small)
    write(tmp_path, "plain", PLAIN + "\n")
    with pytest.raises(InputError, match="changed while it was in use"):
        run(unit)
