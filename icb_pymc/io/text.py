"""Text from untrusted files as terminals, pages and pictures can show it: one place for each kind of escaping."""

import json
import unicodedata
from typing import Any

# No sentence for people is longer; what a file contains may be.
LONGEST_SENTENCE = 600


def visible(text: Any, kept: str = "") -> str:
    """Text in which what cannot be seen, or would move what stands beside it, is shown as its number.

    Parameters
    ----------
    text : object
    kept : str
        Characters that stay as they are, such as line ends.

    Examples
    --------
    >>> visible("age\\x1b[31m")
    'age\\\\u001b[31m'
    """
    return "".join(letter if letter in kept or _is_visible(letter) else _number(letter) for letter in str(text))


def for_terminal(text: Any) -> str:
    """Text in lines that cannot command a terminal: escape sequences change its colours, its title, or what is above.

    Examples
    --------
    >>> for_terminal("age\\x07")
    'age\\\\u0007'
    """
    return visible(text, kept="\n\t")


def as_sentence(text: Any) -> str:
    """Text in one line for a terminal, its middle left out if it is longer than any sentence for people.

    Examples
    --------
    >>> as_sentence("no column\\n'age'")
    "no column 'age'"
    """
    line = visible(" ".join(str(text).split()))
    half = LONGEST_SENTENCE // 2
    return line if len(line) <= LONGEST_SENTENCE else f"{line[:half]} … {line[-half:]}"


def for_picture(text: Any) -> str:
    """Text that matplotlib draws as it is: between dollar signs, which a file may contain, it expects mathematics.

    Examples
    --------
    >>> print(for_picture("$x"))
    \\$x
    """
    return visible(text, kept="\n").replace("$", r"\$")


def for_json(text: str) -> str:
    """JSON that is printed: the same values, with letters that cannot be seen as JSON writes their numbers."""
    return "".join(letter if letter == "\n" or _is_visible(letter) else json.dumps(letter)[1:-1] for letter in text)


def _is_visible(letter: str) -> bool:
    # Not control and format characters (marks of direction, zero-width joiners, ...), surrogates, private use.
    return unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def _number(letter: str) -> str:
    code = ord(letter)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
