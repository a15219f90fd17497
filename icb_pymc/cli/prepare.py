"""`icb prepare`: the paper's filters on a raw OPTN liver file."""

import argparse

from icb_pymc.cli.options import add_verb, say


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "prepare",
        "Filter a raw OPTN liver file as the paper did, and report what each filter dropped.",
        "icb prepare liver.csv -o transplants.csv",
    )
    parser.add_argument("raw", help="raw OPTN liver file as CSV, real or synthetic")
    parser.add_argument("-o", "--output", metavar="CSV", help="write the transplants with their eight features")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prepare, report, and perhaps write."""
    from icb_pymc.environments.optn import prepare, read_raw
    from icb_pymc.files import replacing

    prepared = prepare(read_raw(options.raw), options.raw)
    say(prepared.report.to_string(index=False))
    if prepared.transplants.attrs["synthetic"]:
        say("\nthe patients are synthetic: no real patient is in this file")
    if options.output:
        with replacing(options.output) as temporary:
            prepared.transplants.to_csv(temporary, index=False)
        say(f"\n{len(prepared.transplants)} transplants written to {options.output}")
    return 0
