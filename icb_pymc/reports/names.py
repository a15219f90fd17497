"""Names from untrusted files (features, agents, labels) as text that cannot disturb the page around it."""

import re
import unicodedata
from collections.abc import Iterable

from icb_pymc.io.text import visible

# Longer names are shortened on the page; the JSON form has them whole.
LONGEST = 60
# First strong isolate and its end: text from right to left does not reorder what stands beside it.
ISOLATE, END = "\u2068", "\u2069"
# What Markdown reads as markup, also at the start of a line.
MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&$^:=@])")


def safe_text(text: object, longest: int = LONGEST) -> str:
    """Text without control characters, shortened; what cannot be seen is shown as its number.

    Examples
    --------
    >>> safe_text("age\\u202e)")
    'age\\\\u202e)'
    >>> safe_text("a" * 500, 10)
    'aaaaaaaaa…'
    """
    seen = visible(re.sub(r"[\t\n\r]", " ", str(text)))
    if len(seen) > longest:
        seen = seen[: longest - 1].rstrip() + "…"
    if any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in seen):
        return f"{ISOLATE}{seen}{END}"
    return seen


def display_names(names: Iterable[object]) -> dict[str, str]:
    """Names as the page shows them: safe, with spaces for underscores, and still different from each other.

    Examples
    --------
    >>> display_names(["waiting_time", "a_b", "a b"])
    {'waiting_time': 'waiting time', 'a_b': 'a b', 'a b': 'a b (2)'}
    """
    shown: dict[str, str] = {}
    for name in map(str, names):
        # An empty name would leave a hole in the page.
        text = safe_text(name.replace("_", " ").strip()) or "(no name)"
        same, number = text, 1
        while same in shown.values():
            number += 1
            same = f"{text} ({number})"
        shown[name] = same
    return shown


def as_markdown(text: object) -> str:
    """Text that Markdown shows as it is.

    Examples
    --------
    >>> as_markdown("<b> a_b | c")
    '&lt;b\\\\> a\\\\_b \\\\| c'
    """
    return MARKDOWN.sub(r"\\\1", str(text).replace("\n", " ")).replace("\\&", "&amp;").replace("\\<", "&lt;")
