"""`icb bench`: the samplers side by side."""

import argparse

from icb_pymc.cli.options import add_verb, say, whole_number

KERNELS = ("engine", "gibbs", "paper", "nuts", "nutpie")


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "bench",
        "Measure the samplers against each other in one run, on one core; all of it takes about an hour.",
        "icb bench --kernel engine --kernel gibbs --model nb_icb --actions 2 --limit 60",
    )
    parser.add_argument("--model", action="append", choices=["nb_icb", "b_icb"], help="may be repeated (default: both)")
    parser.add_argument("--kernel", action="append", choices=KERNELS, help="may be repeated (default: all)")
    parser.add_argument(
        "--actions", action="append", type=whole_number, help="candidates, repeatable (default: 2 and 3)"
    )
    parser.add_argument("--steps", type=whole_number, default=500, help="decisions T (default: 500)")
    parser.add_argument(
        "--limit", type=whole_number, default=90, help="seconds after which agreement is given up (default: 90)"
    )
    parser.add_argument(
        "--only", choices=["samplers", "growth", "long", "psytrack"], help="one of the tables (default: all of them)"
    )
    parser.add_argument(
        "--longest", type=whole_number, default=100_000, metavar="T", help="log of the table `long` (default: 100000)"
    )
    parser.add_argument(
        "--lengths", default="500,5000,50000", metavar="T,T,...", help="logs of the table of growth (500,5000,50000)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the tables line by line."""
    from icb_pymc.bench import tables
    from icb_pymc.errors import InputError
    from icb_pymc.sample.quiet import quiet_pymc

    try:
        lengths = [whole_number(word) for word in options.lengths.split(",")]
    except argparse.ArgumentTypeError as error:
        raise InputError(f"--lengths {options.lengths}: {error}.") from None
    wanted = {
        "samplers": lambda: tables.sampler_table(
            options.model or ["nb_icb", "b_icb"],
            options.kernel or list(KERNELS),
            options.actions or [2, 3],
            options.steps,
            float(options.limit),
        ),
        "growth": lambda: tables.growth_table(lengths),
        "long": lambda: tables.long_table(options.longest),
        "psytrack": lambda: tables.psytrack_table(options.steps),
    }
    with quiet_pymc():
        for name, table in wanted.items():
            if options.only in (None, name):
                for line in table():
                    say(line)
                say()
    return 0
