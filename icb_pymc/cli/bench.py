"""`icb bench`: compare the samplers."""

import argparse
from collections.abc import Iterator

from icb_pymc.cli.options import add_verb, positive_integer, say

KERNELS = ("engine", "gibbs", "paper", "nuts", "nutpie", "numpyro", "blackjax")


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "bench",
        "Compare the speed of the samplers in one run, on one core; all tables together take about an hour.",
        "icb bench --kernel engine --kernel gibbs --model nb_icb --actions 2 --limit 60",
    )
    parser.add_argument("--model", action="append", choices=["nb_icb", "b_icb"], help="may be repeated (default: both)")
    parser.add_argument("--kernel", action="append", choices=KERNELS, help="may be repeated (default: all)")
    parser.add_argument(
        "--actions",
        action="append",
        type=positive_integer,
        help="candidates per decision; may be repeated (default: 2 and 3)",
    )
    parser.add_argument("--steps", type=positive_integer, default=500, help="number of decisions T (default: 500)")
    parser.add_argument(
        "--limit",
        type=positive_integer,
        default=90,
        help="seconds after which to stop waiting for the chains to agree (default: 90)",
    )
    parser.add_argument(
        "--only",
        choices=["commands", "samplers", "growth", "wide", "long", "psytrack"],
        help="print only this table (default: all tables)",
    )
    parser.add_argument(
        "--longest",
        type=positive_integer,
        default=100_000,
        metavar="T",
        help="length of the log of the table `long` (default: 100000)",
    )
    parser.add_argument(
        "--lengths",
        default="500,10000,100000,1000000",
        metavar="T,T,...",
        help="lengths of the logs of the table `growth` (default: 500,10000,100000,1000000)",
    )
    parser.add_argument(
        "--widths",
        default="2,4,8,16,32,64",
        metavar="K,K,...",
        help="numbers of features, and of candidates, of the table `wide` (default: 2,4,8,16,32,64)",
    )
    parser.add_argument(
        "--against",
        metavar="PYTHON",
        help="a Python in which another version is installed, to compare the table `commands` with",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the tables line by line."""
    from icb_pymc.bench import tables
    from icb_pymc.bench.wide import wide_table
    from icb_pymc.errors import InputError
    from icb_pymc.sample.quiet import quiet_pymc

    def numbers(option: str, words: str) -> list[int]:
        try:
            return [positive_integer(word) for word in words.split(",")]
        except argparse.ArgumentTypeError as error:
            raise InputError(f"{option} {words}: {error}.") from None

    lengths, widths = numbers("--lengths", options.lengths), numbers("--widths", options.widths)
    tables_by_name = {
        "commands": lambda: _commands(options.steps, options.against),
        "samplers": lambda: tables.sampler_table(
            options.model or ["nb_icb", "b_icb"],
            options.kernel or list(KERNELS),
            options.actions or [2, 3],
            options.steps,
            float(options.limit),
        ),
        "growth": lambda: _growth(lengths),
        "wide": lambda: wide_table(options.steps, widths, widths),
        "long": lambda: tables.long_table(options.longest),
        "psytrack": tables.psytrack_table,
    }
    with quiet_pymc():
        for name, table in tables_by_name.items():
            if options.only in (None, name):
                for line in table():
                    say(line)
                say()
    return 0


def _commands(steps: int, against: str | None) -> Iterator[str]:
    # Imported here, since it counts seconds as only Linux and macOS do.
    from icb_pymc.bench.commands import commands_table

    yield from commands_table(steps, against)


def _growth(lengths: list[int]) -> Iterator[str]:
    # Imported here, since it measures memory as only Linux and macOS do.
    from icb_pymc.bench.growth import growth_table

    yield from growth_table(lengths)
