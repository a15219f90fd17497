"""Text from files is shown as it is or as numbers, and commands neither terminals nor matplotlib."""

import json

import pytest

from icb_pymc.io.text import LONGEST_SENTENCE, as_sentence, for_json, for_picture, for_terminal

HOSTILE = ["\x1b[2J", "\x9b31m", "\x07", "\u202e", "\x00", "\udc80", "\U000e0041"]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize("escape", [as_sentence, for_terminal, for_picture, for_json])
def test_what_cannot_be_seen_is_shown_as_its_number(escape, text):
    shown = escape(f"age{text}x")
    assert shown.isprintable()
    assert shown.startswith("age\\")
    assert shown.encode("utf-8")


def test_lines_stay_lines_in_a_terminal_and_become_one_in_a_sentence():
    assert for_terminal("a\n\tb") == "a\n\tb"
    assert as_sentence("a\n\tb ") == "a b"


def test_a_sentence_shows_the_beginning_and_the_end_of_what_is_too_long():
    shown = as_sentence("a" * 10_000 + "z")
    assert len(shown) == LONGEST_SENTENCE + 3
    assert shown.startswith("aaa")
    assert shown.endswith("aaz")


@pytest.mark.parametrize("text", [text for text in HOSTILE if text != "\udc80"], ids=ascii)
def test_json_keeps_its_values(text):
    assert json.loads(for_json(json.dumps({"name": text}, ensure_ascii=False))) == {"name": text}
