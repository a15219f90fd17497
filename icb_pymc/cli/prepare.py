"""`icb prepare`: apply the paper's filters to a raw OPTN liver file."""

import argparse

from icb_pymc.cli.options import add_json, add_verb, check_output, non_negative_integer, positive_integer, say, say_json


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "prepare",
        "Filter a raw OPTN liver file as in the paper, and report what each filter removed.",
        "icb prepare liver.csv -o transplants.csv --decisions decisions.nc",
    )
    parser.add_argument("raw", help="raw OPTN liver file as CSV, real or synthetic")
    parser.add_argument("-o", "--output", metavar="CSV", help="write the transplants with their eight features")
    parser.add_argument(
        "--decisions",
        metavar="FILE",
        help="write dated decisions: for each liver its recipient and other patients who were waiting",
    )
    parser.add_argument("--steps", type=positive_integer, default=2_500, help="number of decisions (default: 2500)")
    parser.add_argument("--actions", type=positive_integer, default=3, help="candidates per decision (default: 3)")
    parser.add_argument(
        "--seed", type=non_negative_integer, default=0, help="the same seed gives the same decisions (default: 0)"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Filter the file, print the report, and write what was asked for."""
    from icb_pymc.data.decision_files import SUFFIXES, write_decisions
    from icb_pymc.environments.allocation_history import allocation_history
    from icb_pymc.environments.optn import prepare, read_raw
    from icb_pymc.io.files import replacing

    if options.decisions:
        check_output(options.decisions, *SUFFIXES)
    prepared = prepare(read_raw(options.raw), options.raw)
    if options.output:
        with replacing(options.output) as temporary:
            prepared.transplants.to_csv(temporary, index=False)
    if options.decisions:
        decisions = allocation_history(options.steps, options.actions, options.seed, prepared.transplants)
        write_decisions(decisions, options.decisions)
    synthetic = bool(prepared.transplants.attrs["synthetic"])
    if options.json:
        say_json({"report": prepared.report, "transplants": len(prepared.transplants), "synthetic": synthetic})
        return 0
    say(prepared.report.to_string(index=False))
    if synthetic:
        say("\nthe patients are synthetic: this file contains no real patient")
    if options.output:
        say(f"\n{len(prepared.transplants)} transplants written to {options.output}")
    if options.decisions:
        say(f"\n{options.steps} decisions written to {options.decisions}")
    return 0
