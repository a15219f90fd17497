"""The command line `icb`: one file per verb, with the name of the verb.

A verb parses its options, calls the public functions and prints; it computes nothing itself. Heavy libraries are
imported when a verb runs, so that `icb --help` starts at once. `options` contains what several verbs share.
"""

import argparse
import atexit
import gc
import io
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn, TextIO

from icb_pymc import __version__
from icb_pymc.cli import (
    average,
    bench,
    changes,
    check,
    compare,
    completion,
    convert,
    diagnose,
    fit,
    impact,
    models,
    new,
    plot,
    power,
    prepare,
    report,
    reproduce,
    share,
    show,
    simulate,
    synthesise,
    table,
    traces,
)
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.io.caches import ensure_place_for_caches
from icb_pymc.io.text import as_sentence

VERBS = (
    models,
    new,
    check,
    simulate,
    fit,
    diagnose,
    compare,
    average,
    plot,
    table,
    impact,
    changes,
    power,
    report,
    share,
    traces,
    show,
    convert,
    synthesise,
    prepare,
    reproduce,
    bench,
    completion,
)

# Between two searches for garbage.
NEW_OBJECTS = 100_000
# The exit code of a program that an interrupt has ended, as shells have it: 128 and the number of the signal.
INTERRUPTED = 130


def build_parser() -> argparse.ArgumentParser:
    """The parser of `icb` with all its verbs."""
    parser = _Parser(
        prog="icb",
        description="Infer from a log of decisions how the decision-maker's priorities evolved.",
        epilog="example: icb simulate sampling --steps 500 --seed 0 -o decisions.nc",
    )
    parser.add_argument("--version", action="version", version=f"icb {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        verb.add_to(verbs)
    return parser


def program() -> NoReturn:
    """`icb` as a program of its own."""
    leave(main())


def leave(code: int) -> NoReturn:
    """End this program as Python does, but leave its objects to the system.

    Python frees every object of every module that was imported, one by one, which takes it a second after PyMC.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `icb`; bad input is answered with one sentence and exit code 2."""
    # Importing PyMC and building graphs make millions of objects and hardly any garbage: looking for it after every 700
    # new ones, as Python does by default, takes a fifth of the time.
    gc.set_threshold(NEW_OBJECTS)
    options = build_parser().parse_args(arguments)
    warnings.showwarning = _print_warning
    _accept_any_text()
    try:
        ensure_place_for_caches()
        code = options.run(options)
        # What is still buffered may meet a full disk or a closed pipe: then here, where it can be said.
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except InputError as error:
        return _refuse(options.verb, error.on_command_line)
    except KeyboardInterrupt:
        print(f"icb {options.verb}: interrupted; no incomplete file was written.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (head, less) has closed it.
        _discard_output()
        return 0
    except MemoryError:
        return _refuse(options.verb, "there is not enough memory: keep fewer draws, times or rows.")
    except OSError as error:
        # Surroundings: what the system does not let us do with a file, a folder or the output.
        _discard_output()
        return _refuse(options.verb, f"{error.filename or 'output'}: {(error.strerror or str(error)).lower()}.")


class _Parser(argparse.ArgumentParser):
    """Its errors are sentences like all others; sub-commands have parsers of the same class."""

    def error(self, message: str) -> NoReturn:
        super().error(as_sentence(message))


def _refuse(verb: str, reason: object) -> int:
    print(f"icb {verb}: {as_sentence(reason)}", file=sys.stderr)
    return 2


def _accept_any_text() -> None:
    """Print what a terminal or a file in another encoding cannot show as its number, rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Forget what cannot be written: Python tries again when it ends, and would complain about it."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _lead_output_nowhere()


def _lead_output_nowhere() -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        # The output is closed, or no file.
        return


def _print_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print warnings about the user's input in one line; those of libraries are for developers, and are not shown."""
    if issubclass(category, InputWarning):
        print(f"warning: {as_sentence(message)}", file=sys.stderr)
