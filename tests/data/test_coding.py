"""Features from formulas, and new data in the same coding."""

import json

import numpy as np
import pandas as pd
import pytest

from icb_pymc import Columns, InputError, InputWarning, from_table, read_decisions, write_decisions
from icb_pymc.cli import main
from icb_pymc.data.coding import coding_of

LONG = pd.DataFrame(
    {
        "choice_id": [1, 1, 2, 2, 3, 3],
        "alternative": ["A", "B"] * 3,
        "chosen": [1, 0, 0, 1, 0, 1],
        "price": [2.0, 4.0, 1.0, 3.0, 5.0, 2.0],
        "brand": ["x", "y", "z", "x", "y", "x"],
        "weekend": [0, 0, 1, 1, 1, 1],
    }
)


def features(formula, table=LONG):
    decisions = from_table(table, Columns(features=formula))
    return {str(name): decisions["context"].sel(feature=name).values for name in decisions["feature"].values}


def test_categories_are_coded_against_their_first_value_or_the_one_named():
    made = features("price + C(brand)")
    assert list(made) == ["price", "brand[y]", "brand[z]"]
    np.testing.assert_array_equal(made["brand[y]"], [[0, 1], [0, 0], [1, 0]])
    assert list(features("C(brand, 'z')")) == ["brand[x]", "brand[y]"]
    assert list(features("C(brand, Treatment('z'))")) == ["brand[x]", "brand[y]"]
    assert list(features("brand")) == ["brand[y]", "brand[z]"]


def test_an_interaction_with_what_is_the_same_for_all_candidates_needs_a_reference_too():
    made = features("brand:weekend")
    assert list(made) == ["brand[y]:weekend", "brand[z]:weekend"]
    np.testing.assert_array_equal(made["brand[y]:weekend"], [[0, 0], [0, 0], [1, 0]])


def test_an_interaction_without_its_main_effect_has_a_slope_for_every_level():
    assert list(features("brand:price")) == ["brand[x]:price", "brand[y]:price", "brand[z]:price"]
    assert list(features("price + brand:price")) == ["price", "brand[y]:price", "brand[z]:price"]
    assert list(features("brand * price")) == ["brand[y]", "brand[z]", "price", "brand[y]:price", "brand[z]:price"]


def test_functions_arithmetic_and_comparisons_are_computed():
    made = features("log(price) + I(price ** 2) + I(price > 2) + center(price) + scale(price)")
    price = LONG["price"].to_numpy().reshape(3, 2)
    np.testing.assert_allclose(made["log(price)"], np.log(price))
    np.testing.assert_allclose(made["I(price ** 2)"], price**2)
    np.testing.assert_array_equal(made["I(price > 2)"], price > 2)
    np.testing.assert_allclose(made["center(price)"], price - price.mean())
    np.testing.assert_allclose(made["scale(price)"], (price - price.mean()) / price.std())


def test_constants_and_lags_by_alternative():
    made = features("alternative + alternative:weekend + lag(chosen) + lag(chosen, 2)")
    assert list(made) == ["alternative[B]", "lag(chosen)", "lag(chosen, 2)", "alternative[B]:weekend"]
    np.testing.assert_array_equal(made["alternative[B]"], [[0, 1]] * 3)
    np.testing.assert_array_equal(made["alternative[B]:weekend"], [[0, 0], [0, 1], [0, 1]])
    np.testing.assert_array_equal(made["lag(chosen)"], [[0, 0], [1, 0], [0, 1]])
    np.testing.assert_array_equal(made["lag(chosen, 2)"], [[0, 0], [0, 0], [1, 0]])


def test_lags_stay_within_the_agent_and_the_session():
    table = pd.concat([LONG, LONG.assign(choice_id=LONG["choice_id"] + 3)], ignore_index=True)
    table["subject"] = ["p"] * 6 + ["q"] * 6
    by_agent = features("lag(chosen)", table)["lag(chosen)"]
    # The two subjects are interleaved in order of their own counts.
    np.testing.assert_array_equal(by_agent[::2], by_agent[1::2])
    np.testing.assert_array_equal(by_agent[0], 0)


def test_new_data_get_the_same_coding_even_if_they_lack_levels(tmp_path):
    decisions = from_table(LONG, Columns(features="scale(price) + C(brand)"))
    write_decisions(decisions, tmp_path / "first.nc")
    stored = read_decisions(tmp_path / "first.nc")
    with pytest.warns(InputWarning, match="never varies"):
        later = from_table(LONG.iloc[2:4], like=stored)
    assert later["feature"].values.tolist() == ["scale(price)", "brand[y]", "brand[z]"]
    np.testing.assert_allclose(later["context"].values[0], decisions["context"].values[1])
    with pytest.raises(
        InputError, match="row 2: column 'brand' holds 'w', which the coding does not know; it knows x, y, z"
    ):
        from_table(LONG.iloc[2:4].assign(brand="w"), like=stored)


def test_the_coding_is_json_that_says_what_each_feature_is():
    coding = coding_of(from_table(LONG, Columns(features="price + C(brand)")))
    assert coding["features"] == {
        "price": "per unit of price",
        "brand[y]": "brand y against x",
        "brand[z]": "brand z against x",
    }
    assert coding["factors"]["C(brand)"]["levels"] == ["x", "y", "z"]
    trials = pd.DataFrame({"choice": ["left", "right"], "s": [0.1, 0.2]})
    assert coding_of(from_table(trials))["features"]["bias"] == "constant, for right against left"


def test_a_coding_from_a_file_runs_no_code(tmp_path):
    decisions = from_table(LONG, Columns(features="price"))
    coding = json.loads(decisions.attrs["coding"])
    call = f"I(open('{tmp_path}/made', 'w'))"
    coding["formula"] = f"price + {call}"
    with pytest.raises(InputError, match="is not known"):
        from_table(
            LONG,
            like=decisions.assign_attrs(
                coding=json.dumps(coding | {"factors": {"price": {"same": False}, call: {"same": False}}})
            ),
        )
    coding["formula"] = "price"
    for broken in (
        "[",
        "[1]",
        json.dumps(coding | {"factors": 3}),
        json.dumps(coding | {"factors": {"price": {"same": 1}}}),
    ):
        with pytest.raises(InputError):
            from_table(LONG, like=decisions.assign_attrs(coding=broken))
    assert not list(tmp_path.iterdir())


MALFORMED = {
    "price +": "cannot be read",
    "price + (brand": "cannot be read",
    "price brand +": "cannot be read",
    "chosen ~ price": "left side",
    "price | brand": "several parts",
    "price + cost": "no column 'cost'; the columns are choice_id, alternative",
    "price + log(cost)": "no column 'cost'",
    "price + sin(price)": "'sin(price)' is not known; the functions are C, I, abs",
    "price + __import__('os').getcwd()": "cannot be read",
    "price + I(__import__('os').getcwd())": "is not known",
    "price + {price / 2}": "I(a + b)",
    "price + I(price.values)": "is not known",
    "price + log(-price)": "line 2: feature 'log(-price)' is not a finite number",
    "price + weekend": "'weekend' is the same for all candidates of a decision",
    "price + log(brand)": "line 2: feature column 'brand' holds 'x', which is not a number",
    "price + C(brand, 'w')": "the reference 'w' is not in column 'brand'",
    "price + C(price + 1)": "must be a column",
    "price + C(brand, 'x', 3)": "as C(COLUMN)",
    "price + lag(chosen, 0)": "lag(COLUMN)",
    "price + lag()": "lag(COLUMN)",
    "price + lag(price)": "differs between the candidates",
    "price + lag(reward)": "--reward COLUMN",
    "price + chosen": "only known after the choice",
    "price + 2": "cannot be read",
    "brand + C(brand)": "twice",
    "0 + 1": "leaves no feature",
    "price + I(" + "(" * 300 + "price" + ")" * 300 + ")": "",
    "price + " * 300 + "price": "characters",
}


@pytest.mark.parametrize("formula", MALFORMED)
def test_a_malformed_formula_is_reported_in_one_sentence_with_exit_code_2(formula, tmp_path, capsys):
    LONG.to_csv(tmp_path / "long.csv", index=False)
    code = main(["show", str(tmp_path / "long.csv"), "--features", formula])
    printed = capsys.readouterr()
    if MALFORMED[formula]:
        assert code == 2
        assert printed.err.count("\n") == 1
        assert MALFORMED[formula] in printed.err
    else:
        # Deep brackets may be read or refused, depending on the version of Python, but they never crash.
        assert code in (0, 2)
