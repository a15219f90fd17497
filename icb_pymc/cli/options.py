"""Options and outputs that several verbs share."""

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from icb_pymc.errors import InputError
from icb_pymc.io.files import check_target, is_file, remove_abandoned, replacing
from icb_pymc.io.plain_json import as_json_text
from icb_pymc.io.text import for_json, for_terminal

PICTURES = (".png", ".pdf", ".svg")
# What a file can hold as one number.
LARGEST_INTEGER = 2**63 - 1
WORDS = {"true": True, "false": False, "none": None}


def add_verb(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, purpose: str, example: str
) -> argparse.ArgumentParser:
    """Add a sub-command whose help ends with an example."""
    return verbs.add_parser(name, help=purpose, description=purpose, epilog=f"example: {example}")


def add_table_columns(parser: argparse.ArgumentParser) -> None:
    """Add options that name the columns of a table and say its form."""
    group = parser.add_argument_group(
        "columns of a table (CSV or Parquet)",
        "A table is long (one row per candidate per decision), wide (one row per decision, columns price_A, "
        "price_B), or has "
        "one row per trial of a task with two alternatives. Its form and columns with the usual names are recognised.",
    )
    group.add_argument("--decision", metavar="COLUMN", help="the decision (known as decision, choice_id)")
    group.add_argument("--chosen", metavar="COLUMN", help="in a long table, 1 if chosen, else 0 (chosen, choice)")
    group.add_argument(
        "--choice",
        metavar="COLUMN",
        help="with one row per decision, which alternative was chosen; empty if none was (choice, chosen)",
    )
    group.add_argument("--time", metavar="COLUMN", help="integer or date (time, date)")
    group.add_argument("--candidate", metavar="COLUMN", help="name of the candidate (candidate, alternative, alt)")
    group.add_argument("--available", metavar="COLUMN", help="0 if not available (available, avail, av)")
    group.add_argument("--agent", metavar="COLUMN", help="who decided (agent, subject)")
    group.add_argument(
        "--session", metavar="COLUMN", help="the session: priorities may jump between sessions (session)"
    )
    group.add_argument("--reward", metavar="COLUMN", help="what the agent received, empty if not seen (reward)")
    group.add_argument(
        "--answer",
        metavar="COLUMN",
        help="the right answer, named as the choice is (answer), or whether the choice was right (correct)",
    )
    group.add_argument(
        "--features",
        metavar="FORMULA",
        help="feature columns A,B,C, or a formula like 'price + C(brand) + brand:weekend + lag(chosen)' "
        "(default: all other "
        "columns); with one row per decision the alternatives have constants, unless it starts with '0 +'",
    )
    form = group.add_mutually_exclusive_group()
    form.add_argument("--wide", action="store_const", const="wide", dest="form", help="one row per decision")
    form.add_argument("--trials", action="store_const", const="trials", dest="form", help="one row per trial")
    group.add_argument(
        "--alternatives",
        metavar="A,B",
        help="the alternatives of a table with one row per decision, the first of which is the reference; "
        "1=A,2=B if the column "
        "of the choice has other names than the columns",
    )


def add_scaling(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--scale-binary``."""
    parser.add_argument(
        "--scale-binary", action="store_true", help="standardise features with two values, such as 0 and 1, too"
    )


def read_given_decisions(path: str, options: argparse.Namespace, like: Any = None) -> Any:
    """Read the decisions named on the command line, or those in a trace; those of a table get the coding of `like`."""
    if Path(path).suffix == ".nc":
        from icb_pymc.data.columns import Columns

        if given_columns(options) != Columns():
            raise InputError(f"{path}: options of columns are for tables; leave them out for a netCDF file.")
    if is_trace(path):
        from icb_pymc.results.posterior import decisions_in
        from icb_pymc.results.traces import read_trace_as_tree

        return decisions_in(read_trace_as_tree(path))
    from icb_pymc.data.decision_files import read_decisions

    return read_decisions(path, given_columns(options), like=like)


def given_columns(options: argparse.Namespace) -> Any:
    """The columns of a table that are named on the command line."""
    from icb_pymc.data.columns import Columns

    roles = (
        "decision",
        "chosen",
        "time",
        "candidate",
        "available",
        "features",
        "agent",
        "session",
        "reward",
        "answer",
        "choice",
        "form",
    )
    given = {name: getattr(options, name) for name in roles}
    return Columns(**given, alternatives=_alternatives(options.alternatives))


def _alternatives(text: str | None) -> Sequence[str] | dict[str, str] | None:
    """``A,B`` or ``1=A,2=B``."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not any("=" in part for part in parts):
        return parts
    pairs = dict(part.partition("=")[::2] for part in parts)
    if not all(value and name for value, name in pairs.items()):
        raise InputError(f"--alternatives {text}: write A,B or 1=A,2=B.")
    return pairs


def refuse_scaling(path: str, options: argparse.Namespace) -> None:
    """Refuse ``--scale-binary`` for a netCDF file, whose features are taken as they are."""
    if options.scale_binary and Path(path).suffix == ".nc":
        raise InputError(
            f"{path}: --scale-binary is for tables, since the features of a netCDF file stay as they are; standardise "
            "it first (icb convert --standardise --scale-binary)."
        )


def read_decisions_or_trace(path: str, options: argparse.Namespace) -> Any:
    """The decisions in a file, or the trace if it is one."""
    if is_trace(path):
        from icb_pymc.results.traces import read_trace_as_tree

        return read_trace_as_tree(path)
    return read_given_decisions(path, options)


def is_trace(path: str) -> bool:
    """Whether a file is netCDF that is divided into groups, as traces are and decisions are not."""
    if Path(path).suffix != ".nc" or not is_file(path):
        return False
    from icb_pymc.io.untrusted import check_netcdf

    check_netcdf(Path(path))
    return _has_groups(Path(path))


def is_store(path: str) -> bool:
    """Whether a path is a folder of fits."""
    from icb_pymc.results import fits

    return fits.is_store(path)


def named_traces(paths: Sequence[str]) -> dict[str, Any]:
    """The traces in these files, named by their file names if these differ, else by their paths."""
    from icb_pymc.results.traces import read_trace_as_tree

    stems = [Path(path).stem for path in paths]
    names = stems if len(set(stems)) == len(stems) else paths
    if len(set(names)) < len(names):
        raise InputError("the same trace is given twice.")
    return {name: read_trace_as_tree(path) for name, path in zip(names, paths, strict=True)}


def _has_groups(path: Path) -> bool:
    """Whether a netCDF file is divided into groups, as traces are and decisions are not."""
    import h5netcdf

    with h5netcdf.File(path, "r") as file:
        return len(file.groups) > 0


def add_events(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Add the option ``--event TIME=LABEL``."""
    parser.add_argument(
        "--event", action="append", default=[], metavar="TIME=LABEL", help=f"{meaning}; may be repeated"
    )


def add_question(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what to ask about events: which features, in which windows, and what matters."""
    parser.add_argument(
        "--feature",
        action="append",
        default=[],
        metavar="NAME",
        help="ask about this feature only; may be repeated (default: all)",
    )
    lengths = "like 2y, 24M, 8W or 730D, or a number if the decisions are numbered"
    parser.add_argument(
        "--before", metavar="LENGTH", help=f"window before the event, {lengths} (default: to the event before)"
    )
    parser.add_argument(
        "--after", metavar="LENGTH", help=f"window after the event, {lengths} (default: to the event after)"
    )
    parser.add_argument(
        "--matters",
        type=float,
        metavar="CHANGE",
        help="changes of less than this, in log-odds per standard deviation, are not relevant",
    )


def given_events(options: argparse.Namespace) -> dict[str, str]:
    """The events given with ``--event``: labels by time; a time alone has an empty label."""
    return {time: label for time, _, label in (text.partition("=") for text in options.event)}


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--set NAME=VALUE`` for hyperparameters."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a hyperparameter: a number, numbers separated by commas, true, false, none, or text where the model "
        "takes text; may be repeated",
    )


def given_settings(options: argparse.Namespace, declare: Callable[..., Any]) -> dict[str, Any]:
    """The hyperparameters given by ``--set``, for the model that `declare` declares.

    A value that is not a number, true, false or none is text. It is accepted if the model's hyperparameter takes text:
    its default is text, its annotation mentions ``str`` or ``Literal``, or it has neither an annotation nor a default
    other than None.
    """
    return dict(_setting(text, declare) for text in options.set)


def _setting(text: str, declare: Callable[..., Any]) -> tuple[str, Any]:
    from icb_pymc.catalogue.lookup import hyperparameters_of, name_of

    name, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"--set {text}: write it as NAME=VALUE.")
    if value.lower() in WORDS:
        return name, WORDS[value.lower()]
    try:
        numbers = [float(part) for part in value.split(",")]
    except ValueError:
        parameters = hyperparameters_of(declare)
        # An unknown name is refused later, by `settings`, with the list of those that exist.
        if name not in parameters or _takes_text(parameters[name]):
            return name, value
        raise InputError(
            f"--set {text}: '{value}' is not a number; '{name}' of the model '{name_of(declare)}' takes "
            f"{_expected(parameters[name].default)}."
        ) from None
    return name, numbers[0] if len(numbers) == 1 else numbers


def _takes_text(parameter: inspect.Parameter) -> bool:
    if isinstance(parameter.default, str):
        return True
    if parameter.annotation is not parameter.empty:
        return bool(re.search(r"\b(str|Literal)\b", inspect.formatannotation(parameter.annotation)))
    return parameter.default is None or parameter.default is parameter.empty


def _expected(default: Any) -> str:
    if isinstance(default, bool):
        return f"true or false (default: {str(default).lower()})"
    is_required = default is inspect.Parameter.empty
    return f"a number, or several separated by commas{'' if is_required else f' (default: {default})'}"


def check_output(path: str, *suffixes: str) -> None:
    """Refuse an output that cannot be written, before the work begins."""
    if Path(path).suffix not in suffixes:
        raise InputError(f"{path}: the output must end in {' or '.join(suffixes)}.")
    check_target(path)
    remove_abandoned(Path(path).parent, Path(path).name)


def write_picture(draw: Callable[[], Any], path: str | Path) -> None:
    """Write the figure that `draw` returns."""
    import matplotlib as mpl

    # Writing a file needs no screen.
    mpl.use("Agg")

    figure = draw()
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150, bbox_inches="tight")


def positive_integer(text: str, least: int = 1) -> int:
    """Parse an integer of 1 or more."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not an integer") from None
    if number < least:
        raise argparse.ArgumentTypeError(f"{number} is too small: give {least} or more")
    if number > LARGEST_INTEGER:
        raise argparse.ArgumentTypeError(f"{number} is too large: give at most {LARGEST_INTEGER}")
    return number


def non_negative_integer(text: str) -> int:
    """Parse an integer of 0 or more."""
    return positive_integer(text, least=0)


def say(text: str = "") -> None:
    """Print for the person at the terminal."""
    print(for_terminal(text), file=sys.stdout)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--json``."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON (missing numbers are null)")


def say_json(value: Any) -> None:
    """Print a result as JSON, see `icb_pymc.io.plain_json`."""
    print(for_json(as_json_text(value)), file=sys.stdout)
