"""The command line's reference, made from the parser itself.

In `reference/cli.md` the line `<!-- commands -->` becomes a section for each verb: what it does, its usage, its
arguments and options, and its example, as `icb VERB --help` prints them.
"""

import argparse
import re
import textwrap
from collections.abc import Iterator

from sphinx.application import Sphinx

from icb_pymc.cli import build_parser
from icb_pymc.cli.completion import parsers

PAGE, MARKER = "reference/cli", "<!-- commands -->"
COMMON = "--help"


def setup(app: Sphinx) -> dict[str, bool]:
    """Replace the marker when the page is read, which it is in every build: the parser may have changed."""
    app.connect("env-get-outdated", lambda *_: [PAGE])
    app.connect("source-read", _insert_commands)
    return {"parallel_read_safe": True}


def _insert_commands(app: Sphinx, page: str, source: list[str]) -> None:
    if page == PAGE:
        assert MARKER in source[0], f"{page}.md has no {MARKER}"
        sections = ["\n".join(_section(name, parser)) for name, parser in parsers(build_parser()) if name]
        source[0] = source[0].replace(MARKER, "\n".join(sections))


def _section(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"{'#' * (2 + name.count(' '))} icb {name}\n"
    yield f"{_prose(parser.description or '')}\n"
    usage = " ".join(parser.format_usage().partition(":")[2].replace("[-h] ", "").split())
    yield "```text"
    yield textwrap.fill(usage, 68, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    yield "```\n"
    yield f"```{{program}} icb {name}\n```\n"
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if _is_listed(action)]
        if actions and group.description:
            yield f"**{_prose((group.title or '').capitalize())}.** {_prose(group.description)}\n"
        for action in actions:
            yield from _entry(parser, action)
    example = (parser.epilog or "").removeprefix("example: ")
    code, _, note = example.partition(" (")
    yield f"```sh\n{code}\n```\n"
    if note:
        yield f"{_prose(note.removesuffix(')'))}\n"


def _is_listed(action: argparse.Action) -> bool:
    return not isinstance(action, argparse._SubParsersAction) and COMMON not in action.option_strings


def _entry(parser: argparse.ArgumentParser, action: argparse.Action) -> Iterator[str]:
    formatter = parser._get_formatter()
    value = "" if action.nargs == 0 else formatter._format_args(action, action.metavar or action.dest.upper())
    if action.choices and action.metavar is None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    names = action.option_strings or [action.dest]
    known = f" One of {', '.join(f'`{choice}`' for choice in action.choices)}." if action.choices else ""
    yield f"```{{option}} {', '.join(names)} {value if action.option_strings else ''}".rstrip()
    text = formatter._expand_help(action) if action.help else ""
    yield f"{_prose(text)}{'.' if text and known else ''}{known if action.metavar or not action.option_strings else ''}"
    yield "```\n"


def _prose(text: str) -> str:
    """Plain text as Markdown: what stands in backticks stays, and no sign means anything."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]|$#])", r"\\\1", part) for part in parts)
