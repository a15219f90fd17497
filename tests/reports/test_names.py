"""Names from untrusted files cannot disturb a page, and stay different from each other."""

import pytest

from icb_pymc.reports.names import as_markdown, display_names, safe_text

HOSTILE = [
    "<script>alert(1)</script>",
    '"\' onmouseover="alert(1)',
    "age\u202eega",
    "\u200f\u2066x",
    "x" * 500,
    "a\nb\x00c\x1b[31m",
    "[click](javascript:alert(1)) | `code` **bold** <b>",
    "",
    "{{ 7 * 7 }}{% raw %}",
    "]]></style><svg onload=alert(1)>",
    "lone \ud800 surrogate",
    "שם",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_safe_text_has_no_character_that_cannot_be_seen(name):
    text = safe_text(name)
    assert len(text) <= 60 + 2
    assert all(character.isprintable() or character in "\u2068\u2069" for character in text)
    text.encode("utf-8")


def test_marks_of_direction_are_shown_as_numbers_and_not_obeyed():
    assert safe_text("age\u202eega") == "age\\u202eega"


def test_text_from_right_to_left_is_isolated():
    assert safe_text("שם") == "\u2068שם\u2069"


def test_names_that_look_alike_are_numbered():
    shown = display_names(["a_b", "a b", "x" * 500, "x" * 501])
    assert len(set(shown.values())) == 4


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_has_no_tag_and_no_link_of_a_name(name):
    text = as_markdown(safe_text(name, 200))
    assert "<" not in text
    assert "](" not in text.replace("\\]\\(", "")
    assert "\n" not in text


def test_a_backslash_in_a_name_does_not_undo_the_escaping():
    assert as_markdown("\\<b>") == "\\\\&lt;b\\>"
