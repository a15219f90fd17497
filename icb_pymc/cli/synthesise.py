"""`icb synthesise`: write a synthetic cohort or history of allocation in the format of the OPTN liver file."""

import argparse

from icb_pymc.cli.options import add_verb, non_negative_integer, positive_integer, say


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "synthesise",
        "Write synthetic patients with the columns and codes of the OPTN liver file; it contains no real patient.",
        "icb synthesise --patients 5000 -o liver.csv",
    )
    parser.add_argument(
        "what",
        nargs="?",
        choices=["cohort", "history"],
        default="cohort",
        help="patients matched at random (default), or livers allocated by known, dated policies",
    )
    parser.add_argument(
        "--patients", type=positive_integer, help="number of patients (default: 20000; for a history 10000)"
    )
    parser.add_argument(
        "--seed", type=non_negative_integer, default=0, help="the same seed gives the same patients (default: 0)"
    )
    parser.add_argument("-o", "--output", required=True, metavar="CSV", help="file to write")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Generate and write."""
    from icb_pymc.environments.allocation_history import synthesise_history
    from icb_pymc.environments.liver_cohort import synthesise
    from icb_pymc.io.files import replacing

    make = synthesise_history if options.what == "history" else synthesise
    given = {} if options.patients is None else {"patients": options.patients}
    patients = make(seed=options.seed, **given)
    with replacing(options.output) as temporary:
        patients.to_csv(temporary, index=False)
    say(f"{len(patients)} synthetic patients (none of them real) written to {options.output}")
    return 0
