"""Options and outputs that several verbs share."""

import argparse
import sys
from pathlib import Path
from typing import Any

from icb_pymc.errors import InputError

# Hyperparameters that are words.
WORDS = ("unit_of_time", "prior", "reading", "score")


def add_verb(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, purpose: str, example: str
) -> argparse.ArgumentParser:
    """A sub-command whose help ends with an example."""
    return verbs.add_parser(name, help=purpose, description=purpose, epilog=f"example: {example}")


def add_table_columns(parser: argparse.ArgumentParser) -> None:
    """Options that say what the columns of a long table are called."""
    group = parser.add_argument_group("columns of a table (CSV or Parquet, one row per candidate per decision)")
    group.add_argument("--decision", default="decision", metavar="COLUMN", help="which decision (default: decision)")
    group.add_argument("--chosen", default="chosen", metavar="COLUMN", help="1 if chosen, else 0 (default: chosen)")
    group.add_argument("--time", metavar="COLUMN", help="whole number or date (default: time, if there)")
    group.add_argument("--candidate", metavar="COLUMN", help="the candidate's name (default: candidate, if there)")
    group.add_argument("--available", metavar="COLUMN", help="0 if not to be had (default: available, if there)")
    group.add_argument("--agent", metavar="COLUMN", help="who decided (default: agent, if there and no feature)")
    group.add_argument("--features", metavar="A,B,C", help="feature columns (default: all that are left)")


def read_given_decisions(path: str, options: argparse.Namespace) -> Any:
    """Read the decisions named on the command line."""
    from icb_pymc.data.decision_files import read_decisions
    from icb_pymc.data.tables import Columns

    features = options.features.split(",") if options.features else None
    roles = (options.decision, options.chosen, options.time, options.candidate, options.available)
    return read_decisions(path, Columns(*roles, features, options.agent))


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Option ``--set name=value`` for hyperparameters."""
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a hyperparameter; may be repeated"
    )


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The hyperparameters given by ``--set``."""
    return dict(_setting(text) for text in options.set)


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"--set {text}: write it as name=value.")
    words = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return name, words[value.lower()]
    try:
        numbers = [float(part) for part in value.split(",")]
    except ValueError:
        if name not in WORDS:
            raise InputError(f"--set {text}: {value!r} is not a number.") from None
        return name, value
    return name, numbers[0] if len(numbers) == 1 else numbers


def check_output(path: str, *suffixes: str) -> None:
    """Refuse an output that cannot be written before the work begins, not after."""
    if Path(path).suffix not in suffixes:
        raise InputError(f"{path}: the output must end in {' or '.join(suffixes)}.")
    if not Path(path).parent.is_dir():
        raise InputError(f"{path}: the folder {Path(path).parent} does not exist; create it first.")


def whole_number(text: str, least: int = 1) -> int:
    """A positive whole number."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
    if number < least:
        raise argparse.ArgumentTypeError(f"{number} is too small: give {least} or more")
    return number


def zero_or_more(text: str) -> int:
    """Zero or a positive whole number."""
    return whole_number(text, least=0)


def say(text: str = "") -> None:
    """Print for the person at the terminal."""
    print(text, file=sys.stdout)
