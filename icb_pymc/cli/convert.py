"""`icb convert`: decisions from one kind of file to another."""

import argparse

from icb_pymc.cli.options import add_table_columns, add_verb, read_given_decisions, say


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "convert",
        "Check decisions and write them as netCDF, CSV or Parquet.",
        "icb convert log.csv --decision offer --time date --standardise -o decisions.nc",
    )
    parser.add_argument("decisions", help="netCDF file, or a table as CSV or Parquet")
    parser.add_argument("--standardise", action="store_true", help="centre and scale features, remembering how")
    parser.add_argument("-o", "--output", required=True, help="file to write; its ending says the kind")
    add_table_columns(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, perhaps standardise, and write."""
    from icb_pymc.data.decision_files import write_decisions
    from icb_pymc.data.standardisation import standardise

    decisions = read_given_decisions(options.decisions, options)
    write_decisions(standardise(decisions) if options.standardise else decisions, options.output)
    say(f"{decisions.sizes['time']} decisions written to {options.output}")
    return 0
