"""Sentences of a report say what the numbers say, and nothing more."""

import doctest

import numpy as np
import pytest

from icb_pymc.reports import charts, findings, names, svg, wording

DULL = {"verdict": "not clear", "ratio": 1.0, "one_factor": 0.1, "lower": 0.9, "upper": 1.1, "probability": 0.6}


def row(before, after, verdict="clear", counted=(None, None)):
    signs = [np.sign(end) if given is None else given for end, given in zip((before, after), counted, strict=True)]
    change = after - before
    return {
        "before": before,
        "after": after,
        "change": change,
        "lower": change - 0.2,
        "upper": change + 0.2,
        "probability": 0.99,
        "counted_before": signs[0],
        "counted_after": signs[1],
        "difference": 2.0,
        "chosen_before": 0.5,
        "chosen_after": 0.7,
        "verdict": verdict,
    }


@pytest.mark.parametrize("module", [wording, charts, names, svg, findings])
def test_the_examples_run(module):
    results = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert results.failed == 0
    assert results.attempted > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (row(0.5, 1.5), "inr counted more"),
        (row(-0.5, -1.5), "inr counted more"),
        (row(1.5, 0.5), "inr counted less"),
        (row(-1.5, -0.5, "probable"), "inr probably counted less"),
        (row(1.0, -1.0), "inr changed sides: a higher value spoke for a candidate before, and against one afterwards"),
        (row(-1.0, 1.0), "inr changed sides: a higher value spoke against a candidate before, and for one afterwards"),
        (row(0.02, 1.0, counted=(0, 1)), "inr began to count for a candidate"),
        (row(0.02, -1.0, counted=(0, -1)), "inr began to count against a candidate"),
        (row(1.0, 0.02, counted=(1, 0)), "inr counted far less"),
        # Directions that are not known do not make nothing of much.
        (row(0.8, 1.0, counted=(0, 1)), "inr counted more"),
        (row(1.0, 0.8, counted=(1, 0)), "inr counted less"),
        (row(-0.2, 0.3, counted=(0, 0)), "the weight of inr rose"),
    ],
)
def test_what_became_of_a_feature_depends_on_its_sign_before_and_after(change, words):
    assert wording.say_what_happened("inr", change) == words


def test_a_headline_names_three_features_and_counts_the_others():
    rows = {name: row(0.5, 1.5) for name in "abcde"}
    text = wording.headline("the event", "clear", rows, DULL, None)
    assert text == "After the event, a counted more, b counted more, c counted more and 2 more weights changed."


def test_features_without_a_claim_are_not_in_the_headline():
    rows = {"a": row(0.5, 1.5), "b": row(0.5, 0.9, "not clear")}
    assert wording.headline("the event", "clear", rows, DULL, None) == "After the event, a counted more."


def test_a_common_factor_is_the_headline_though_single_weights_changed_too():
    sharper = {"verdict": "clear", "ratio": 0.5, "one_factor": 0.9}
    text = wording.headline("it", "clear", {"a": row(2.0, 1.0)}, sharper, None)
    assert text == "After it, all choices became less sharp: the same differences between candidates decided less."


@pytest.mark.parametrize(
    ("accounts", "words"),
    [
        ({"step": 0.02, "drift": 0.03, "no change": 0.95}, "No change of any weight is needed"),
        ({"step": 0.5, "drift": 0.3, "no change": 0.2}, "not clear whether anything changed"),
        ({"step": 0.5, "drift": 0.49, "no change": 0.01}, "Something changed around it, but it is not clear which"),
        (None, "not clear whether anything changed"),
    ],
)
def test_without_a_claim_the_headline_follows_the_evidence(accounts, words):
    rows = {"a": row(1.0, 1.1, "not clear")}
    assert words in wording.headline("it", "not clear", rows, DULL, accounts)


def test_an_unreliable_trace_says_nothing_about_the_event():
    text = wording.headline("it", "do not rely on it", {"a": row(0.5, 1.5)}, DULL, None)
    assert text == "This report cannot say what changed around it."


@pytest.mark.parametrize(
    ("accounts", "claimed", "words"),
    [
        ({"step": 0.97, "drift": 0.02, "no change": 0.01}, True, "It came suddenly, at the event"),
        ({"step": 0.9, "drift": 0.08, "no change": 0.02}, True, "It probably came suddenly, at the event"),
        ({"step": 0.1, "drift": 0.88, "no change": 0.02}, True, "It probably came gradually, not at once"),
        ({"step": 0.6, "drift": 0.39, "no change": 0.01}, True, "suddenly or gradually is not clear"),
        ({"step": 0.4, "drift": 0.59, "no change": 0.01}, True, "suddenly or gradually is not clear"),
        ({"step": 0.1, "drift": 0.1, "no change": 0.8}, False, "nothing changed has a probability of 80.0%"),
        ({"step": 0.9, "drift": 0.08, "no change": 0.02}, False, "A step at the event has a probability"),
    ],
)
def test_timing_says_whether_a_change_was_sudden(accounts, claimed, words):
    assert words in wording.say_timing(accounts, claimed)


def test_probabilities_and_shares_are_never_certain():
    sentence = wording.say_change("a", row(0.5, 3.0) | {"probability": 1.0, "chosen_after": 1.0}, 0.9)
    assert "over 99.9%" in sentence
    assert "100%" not in sentence


def test_a_log_without_changes_is_not_called_proof():
    text = wording.say_unseen({"a": {"lower": -0.1, "upper": 0.6}, "b": {"lower": -0.2, "upper": 0.1}}, 0.9)
    assert text.startswith("That is not proof of no change")
    assert "the weight of a changed by −0.10 to +0.60" in text


@pytest.mark.parametrize(
    ("any_change", "number", "words"),
    [
        (0.999, 1, "changed, most probably once"),
        (0.7, 2, "probably changed, most probably 2 times"),
        (0.3, 0, "cannot tell"),
        (0.3, 1, "cannot tell"),
        (0.01, 0, "needs no change"),
    ],
)
def test_dates_found_are_claimed_only_if_a_change_is_more_probable_than_none(any_change, number, words):
    assert words in wording.say_changes(any_change, number, 0.6)
