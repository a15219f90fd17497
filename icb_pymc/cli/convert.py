"""`icb convert`: convert a file of decisions to another format."""

import argparse
from pathlib import Path
from typing import Any

from icb_pymc.cli.options import (
    add_json,
    add_scaling,
    add_table_columns,
    add_verb,
    is_trace,
    read_given_decisions,
    say,
    say_json,
)
from icb_pymc.errors import InputError


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
        "--standardise",
        action="store_true",
        help="centre numeric features and scale them by their spread within decisions; the scaling is stored",
    )
    add_scaling(parser)
    parser.add_argument(
        "--like",
        metavar="FILE",
        help="give a table the features, coding and scaling of these decisions, or of those in this trace (.nc)",
    )
    parser.add_argument("-o", "--output", required=True, help="file to write: .nc, .csv or .parquet")
    add_json(parser)
    add_table_columns(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the decisions, standardise them if asked to, and write them."""
    from icb_pymc.data.decision_files import write_decisions
    from icb_pymc.data.standardisation import standardise

    if options.scale_binary and not options.standardise:
        raise InputError("--scale-binary can only be used with --standardise.")
    like = None if options.like is None else _decisions_like(options.like)
    decisions = read_given_decisions(options.decisions, options, like)
    if like is not None and "feature_scale" in like:
        decisions = standardise(decisions, like=like)
    elif options.standardise:
        decisions = standardise(decisions, binary=options.scale_binary)
    write_decisions(decisions, options.output)
    if options.json:
        say_json({"output": options.output, "decisions": decisions.sizes["time"]})
    else:
        say(f"{decisions.sizes['time']} decisions written to {options.output}")
    return 0


def _decisions_like(path: str) -> Any:
    """The decisions in a netCDF file, or in the trace that it is."""
    from icb_pymc.data.decision_files import read_decisions
    from icb_pymc.results.posterior import decisions_in
    from icb_pymc.results.traces import read_trace

    if Path(path).suffix != ".nc":
        raise InputError(f"--like {path}: give a netCDF file of decisions, or a trace (.nc).")
    return decisions_in(read_trace(path)) if is_trace(path) else read_decisions(path)
