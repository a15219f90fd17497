"""`icb synthesise`: a synthetic cohort in the form of the OPTN liver file."""

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
    parser.add_argument("--patients", type=whole_number, default=20_000, help="how many (default: 20000)")
    parser.add_argument("--seed", type=zero_or_more, default=0, help="same seed, same patients (default: 0)")
    parser.add_argument("-o", "--output", required=True, metavar="CSV", help="file to write")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Generate and write."""
    from icb_pymc.environments.liver_cohort import synthesise
    from icb_pymc.files import replacing

    patients = synthesise(options.patients, options.seed)
    with replacing(options.output) as temporary:
        patients.to_csv(temporary, index=False)
    say(f"{len(patients)} synthetic patients (none of them real) written to {options.output}")
    return 0
