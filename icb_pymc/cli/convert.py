"""`icb convert`: convert a file of decisions to another format."""

import argparse

from icb_pymc.cli.options import add_json, add_table_columns, add_verb, read_given_decisions, say, say_json


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "convert",
        "Check decisions and write them as netCDF, CSV or Parquet.",
        "icb convert log.csv --decision offer --time date --standardise -o decisions.nc",
    )
    parser.add_argument("decisions", help="netCDF file, or a table as CSV or Parquet")
    parser.add_argument(
        "--standardise", action="store_true", help="centre and scale the features; the scaling is stored"
    )
    parser.add_argument("-o", "--output", required=True, help="file to write: .nc, .csv or .parquet")
    add_json(parser)
    add_table_columns(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the decisions, standardise them if asked to, and write them."""
    from icb_pymc.data.decision_files import write_decisions
    from icb_pymc.data.standardisation import standardise

    decisions = read_given_decisions(options.decisions, options)
    write_decisions(standardise(decisions) if options.standardise else decisions, options.output)
    if options.json:
        say_json({"output": options.output, "decisions": decisions.sizes["time"]})
    else:
        say(f"{decisions.sizes['time']} decisions written to {options.output}")
    return 0
