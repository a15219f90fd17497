"""`icb prepare`: the paper's filters on a raw OPTN liver file."""

import argparse

from icb_pymc.cli.options import add_verb, check_output, say, whole_number, zero_or_more


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "prepare",
        "Filter a raw OPTN liver file as the paper did, and report what each filter dropped.",
        "icb prepare liver.csv -o transplants.csv --decisions decisions.nc",
    )
    parser.add_argument("raw", help="raw OPTN liver file as CSV, real or synthetic")
    parser.add_argument("-o", "--output", metavar="CSV", help="write the transplants with their eight features")
    parser.add_argument(
        "--decisions",
        metavar="FILE",
        help="write dated decisions: each liver, its recipient, and others then waiting",
    )
    parser.add_argument("--steps", type=whole_number, default=2_500, help="how many decisions (default: 2500)")
    parser.add_argument("--actions", type=whole_number, default=3, help="candidates per decision (default: 3)")
    parser.add_argument("--seed", type=zero_or_more, default=0, help="same seed, same decisions (default: 0)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prepare, report, and perhaps write."""
    from icb_pymc.data.decision_files import SUFFIXES, write_decisions
    from icb_pymc.environments.allocation_history import allocation_history
    from icb_pymc.environments.optn import prepare, read_raw
    from icb_pymc.io.files import replacing

    if options.decisions:
        check_output(options.decisions, *SUFFIXES)
    prepared = prepare(read_raw(options.raw), options.raw)
    say(prepared.report.to_string(index=False))
    if prepared.transplants.attrs["synthetic"]:
        say("\nthe patients are synthetic: no real patient is in this file")
    if options.output:
        with replacing(options.output) as temporary:
            prepared.transplants.to_csv(temporary, index=False)
        say(f"\n{len(prepared.transplants)} transplants written to {options.output}")
    if options.decisions:
        decisions = allocation_history(options.steps, options.actions, options.seed, prepared.transplants)
        write_decisions(decisions, options.decisions)
        say(f"\n{options.steps} decisions written to {options.decisions}")
    return 0
