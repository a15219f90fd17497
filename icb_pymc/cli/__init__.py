"""The command line `icb`: one file per verb, called like the verb.

A verb parses its options, calls the public functions and prints; it computes nothing itself. Heavy libraries are
imported when a verb runs, so that `icb --help` starts at once. `options` holds what several verbs share.
"""

import argparse
import sys
import warnings
from collections.abc import Sequence
from typing import TextIO

from icb_pymc import __version__
from icb_pymc.cli import (
    bench,
    changes,
    check,
    compare,
    convert,
    diagnose,
    fit,
    impact,
    models,
    new,
    plot,
    prepare,
    reproduce,
    share,
    show,
    simulate,
    synthesise,
    traces,
)
from icb_pymc.errors import InputError, InputWarning

VERBS = (
    models,
    new,
    check,
    simulate,
    fit,
    diagnose,
    compare,
    plot,
    impact,
    changes,
    share,
    traces,
    show,
    convert,
    synthesise,
    prepare,
    reproduce,
    bench,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `icb`; bad input is one sentence and exit code 2."""
    parser = argparse.ArgumentParser(
        prog="icb",
        description="Reads a log of decisions and tells how the decision-maker's priorities evolved.",
        epilog="example: icb simulate sampling --steps 500 --seed 0 -o decisions.nc",
    )
    parser.add_argument("--version", action="version", version=f"icb {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        verb.add_to(verbs)
    options = parser.parse_args(arguments)
    warnings.showwarning = _say_warning
    try:
        return options.run(options)
    except InputError as error:
        print(f"icb {options.verb}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"icb {options.verb}: interrupted; nothing was half-written.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output (head, less) has seen enough.
        sys.stderr.close()
        return 0


def _say_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Say warnings about the user's input in one line; those of libraries are for developers."""
    if issubclass(category, InputWarning):
        print(f"warning: {message}", file=sys.stderr)
