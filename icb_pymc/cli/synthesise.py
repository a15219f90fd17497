"""`icb synthesise`: a synthetic cohort or history of allocation in the form of the OPTN liver file."""

import argparse

from icb_pymc.cli.options import add_verb, say, whole_number, zero_or_more


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "synthesise",
        "Write synthetic patients with the columns and codes of the OPTN liver file; no real patient is in it.",
        "icb synthesise --patients 5000 -o liver.csv",
    )
    parser.add_argument(
        "what",
        nargs="?",
        choices=["cohort", "history"],
        default="cohort",
        help="patients matched by chance (default), or livers that went by known, dated policies",
    )
    parser.add_argument("--patients", type=whole_number, help="how many (default: 20000, of a history 10000)")
    parser.add_argument("--seed", type=zero_or_more, default=0, help="same seed, same patients (default: 0)")
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
