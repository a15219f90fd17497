"""Tables in the words of discrete-choice users, one command each, and what is refused of them in one sentence."""

import numpy as np
import pandas as pd
import pytest

from icb_pymc import Columns, from_table
from icb_pymc.cli import main
from icb_pymc.errors import InputError

BAMBI = "choice(chosen, alternative, choice_id) | available(available) ~ price + C(brand)"


@pytest.fixture(scope="module")
def long():
    """Bambi's columns: chosen, alternative, choice_id, available."""
    rng = np.random.default_rng(0)
    chosen = rng.integers(3, size=40)
    table = pd.DataFrame(
        {
            "choice_id": np.repeat(np.arange(40), 3),
            "alternative": ["bus", "car", "bike"] * 40,
            "available": 1,
            "price": rng.normal(size=120).round(2),
            "brand": ["x", "y", "z"] * 40,
            "chosen": (np.tile(np.arange(3), 40) == np.repeat(chosen, 3)).astype(int),
        }
    )
    table.loc[(table["choice_id"] % 4 == 0) & (table["chosen"] == 0) & (table["alternative"] != "bus"), "available"] = 0
    return table


def test_bambis_formula_says_which_column_is_what(long):
    renamed = long.rename(
        columns={"chosen": "taken", "alternative": "option", "choice_id": "trip", "available": "offered"}
    )
    formula = "choice(taken, option, trip) | available(offered) ~ price + C(brand)"
    decisions = from_table(renamed, Columns(features=formula))
    expected = from_table(long, Columns(features="price + C(brand)"))
    assert decisions["feature"].values.tolist() == ["price", "brand[y]", "brand[z]"]
    for name in ("context", "available", "chosen", "candidate"):
        np.testing.assert_array_equal(decisions[name], expected[name])


@pytest.mark.parametrize("features", [BAMBI, "price + C(brand)"])
def test_one_command_shows_a_table_with_bambis_words(long, features, tmp_path, capsys):
    path = str(tmp_path / "log.csv")
    long.to_csv(path, index=False)
    assert main(["show", path, "--features", features]) == 0
    printed = capsys.readouterr().out
    assert "40 decisions from 1 to 40, 1 to 3 candidates each, 3 features" in printed
    assert "brand y against x" in printed


def test_one_command_fits_it(long, tmp_path, capsys):
    path, trace = str(tmp_path / "log.csv"), str(tmp_path / "trace.nc")
    long.to_csv(path, index=False)
    options = ["--features", BAMBI, "--method", "laplace", "--draws", "50", "--seed", "0"]
    assert main(["fit", "nb_icb", path, *options, "-o", trace]) == 0
    assert "brand[z]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("features", "sentence"),
    [
        ("price +", "the formula 'price +' cannot be read"),
        ("price + C(brand", "cannot be read"),
        ("price:", "cannot be read"),
        ("C(nothing)", "there is no column 'nothing'"),
        ("lag(nothing)", "there is no column 'nothing'"),
        ("__import__('os')", "is not known; the functions are C, I, abs"),
        ("1", "leaves no feature"),
        ("log(price)", "feature 'log(price)' is not a finite number there"),
        ("price | brand", "it has several parts"),
        ("y ~ price", "give only the features, what stands right of '~'"),
        ("C(brand, Treatment(reference='q'))", "the reference 'q' is not in column 'brand'"),
        ("choice(chosen, alternative) ~ price", "write choice(chosen, alternative, choice_id)"),
        ("choice(chosen, alternative, choice_id)", "and then ~ and the features"),
        ("choice(nothing, alternative, choice_id) ~ price", "there is no column 'nothing'"),
    ],
)
def test_a_formula_that_cannot_be_meant_is_refused_in_one_sentence(long, features, sentence, tmp_path, capsys):
    path = str(tmp_path / "log.csv")
    long.to_csv(path, index=False)
    assert main(["show", path, "--features", features]) == 2
    said = capsys.readouterr().err.strip()
    assert sentence in said
    assert "\n" not in said
    assert "Traceback" not in said


TRIALS = pd.DataFrame(
    {"choice": ["left", "right"] * 6, "contrast": np.arange(12.0), "session": np.repeat([1, 2, 3], 4)}
)


@pytest.mark.parametrize(
    ("change", "options", "sentence"),
    [
        ({"session": [1] * 4 + [2] * 4 + [1] * 4}, [], "log.csv: session 1 is taken up again at decision number 9"),
        ({"reward": [1.0, "much", *[0.0] * 10]}, [], "log.csv, line 3: reward column 'reward' holds 'much'"),
        ({}, ["--session", "day"], "there is no column 'day'"),
        ({}, ["--answer", "key"], "there is no column 'key'"),
        ({}, ["--choice", "picked"], "there is no column 'picked'"),
        ({"answer": "up"}, [], "log.csv, line 2: column 'answer' holds 'up'"),
    ],
)
def test_columns_that_contradict_themselves_are_refused_with_the_file_and_row(
    change, options, sentence, tmp_path, capsys
):
    path = str(tmp_path / "log.csv")
    TRIALS.assign(**change).to_csv(path, index=False)
    assert main(["show", path, *options]) == 2
    said = capsys.readouterr().err.strip()
    assert sentence in said
    assert "\n" not in said


def test_a_column_named_twice_is_refused(long):
    with pytest.raises(InputError, match="the formula says that column 'chosen' is 'chosen', but 'taken' was named"):
        from_table(long, Columns(chosen="taken", features=BAMBI))
