"""Decisions built from arrays, and what `validate` refuses."""

import numpy as np
import pytest
import xarray as xr

from icb_pymc.data.decisions import from_arrays, map_features, validate
from icb_pymc.errors import InputError, InputWarning


def two_decisions(**changes):
    arguments = {"context": np.arange(12.0).reshape(2, 2, 3), "chosen": [0, 1]} | changes
    return from_arrays(arguments.pop("context"), arguments.pop("chosen"), **arguments)


def test_arrays_become_a_labelled_dataset():
    decisions = two_decisions(features=["age", "inr", "weight"])
    assert decisions["context"].dims == ("time", "action", "feature")
    assert decisions["time"].values.tolist() == [1, 2]
    assert decisions["context"].sel(time=2, action=0, feature="inr") == 7.0
    assert decisions["available"].values.all()


def test_values_in_empty_slots_are_ignored():
    context = np.arange(12.0).reshape(2, 2, 3)
    context[0, 1] = np.nan
    with pytest.warns(InputWarning, match=r"1 decision\(s\) have a single candidate"):
        decisions = two_decisions(context=context, available=[[True, False], [True, True]])
    assert (decisions["context"].values[0, 1] == 0).all()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"context": np.zeros((2, 3))}, "context has 2 dimensions"),
        ({"chosen": [0]}, r"chosen has shape \(1,\)"),
        ({"chosen": [0.5, 1.0]}, "chosen must hold whole numbers"),
        ({"chosen": [0, 2]}, r"chosen slot 2 at time 2 \(decision number 2\) is outside 0..1"),
        ({"available": [[False, True], [True, True]]}, "chosen at time 1 .* marked unavailable"),
        ({"time": [2, 1]}, "times are out of order: time 1"),
        ({"time": [0.5, 1.5]}, "give whole numbers or dates"),
        ({"features": ["a"]}, "features has shape"),
        ({"features": ["a", "b", "a"]}, "a name twice"),
        ({"context": np.zeros((0, 2, 3)), "chosen": []}, "dimension 'time' has length 0"),
    ],
)
def test_bad_arrays_are_refused_and_the_error_is_located(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        two_decisions(**changes)


@pytest.mark.parametrize(
    ("value", "word"), [(np.nan, "missing"), (np.inf, "infinite"), (-1e308, r"-1e\+308, too large")]
)
def test_a_bad_feature_is_named(value, word):
    context = np.arange(12.0).reshape(2, 2, 3)
    context[1, 0, 2] = value
    with pytest.raises(InputError, match=f"'feature_2' of candidate 0 at time 2 .* is {word}"):
        two_decisions(context=context)


def test_identical_candidates_are_legal_but_a_feature_that_never_varies_gives_a_warning():
    context = np.ones((2, 2, 1))
    with pytest.warns(InputWarning, match="'feature_0' never varies"):
        from_arrays(context, [0, 1])


def test_dims_in_another_order_are_refused():
    decisions = two_decisions()
    with pytest.raises(InputError, match="'context' has dims"):
        validate(decisions.transpose("feature", "time", "action"))


def test_a_feature_map_replaces_the_features_and_drops_variables_of_the_old_ones():
    decisions = two_decisions(features=["a", "b", "c"])
    decisions["true_rho_env"] = ("feature", [1.0, 2.0, 3.0])
    decisions["reward_context"] = decisions["context"] ** 2

    def squares(context):
        return xr.concat([context, (context**2).assign_coords(feature=["aa", "bb", "cc"])], "feature")

    mapped = map_features(decisions, squares)
    assert mapped["feature"].values.tolist() == ["a", "b", "c", "aa", "bb", "cc"]
    assert mapped["context"].sel(time=2, action=1, feature="bb") == 100.0
    assert "true_rho_env" not in mapped
    assert "reward_context" not in mapped


@pytest.mark.parametrize(
    "feature_map",
    [lambda x: x.values, lambda x: x.sum("feature"), lambda x: x.drop_vars("feature"), lambda x: None],
    ids=["an array", "no features", "features without names", "nothing"],
)
def test_a_feature_map_must_return_labelled_contexts(feature_map):
    with pytest.raises(InputError, match=r"feature_map must return a DataArray \(time, action, feature\)"):
        map_features(two_decisions(), feature_map)
