"""`icb table`: write the weights over time, or their changes around events, as CSV."""

import argparse

from icb_pymc.cli.options import add_events, add_verb, check_output, given_events, is_store, positive_integer, say


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "table",
        "Write the signed weights of a trace over time as CSV: median, interval, probability of being above zero and "
        "importance, a row for each time and feature. With --event, write the change of each weight around each event.",
        "icb table trace.nc -o weights.csv",
    )
    parser.add_argument("trace", help="netCDF file written by `icb fit`, or the folder of `icb fit --each`")
    parser.add_argument("-o", "--output", required=True, help="file to write: .csv")
    add_events(parser, "write changes around this event: a date, or a number if the decisions are numbered")
    parser.add_argument(
        "--unit",
        choices=["sd", "user"],
        default="sd",
        help="log-odds per standard deviation of the feature, or per unit of the user's feature (default: "
        "sd); changes of one trace are "
        "written in both",
    )
    parser.add_argument(
        "--ci-prob", type=float, metavar="P", help="probability of the intervals (default: that of ArviZ)"
    )
    parser.add_argument("--every", type=positive_integer, default=1, metavar="N", help="write every N-th time kept")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the trace and write the table."""
    check_output(options.output, ".csv")
    if is_store(options.trace):
        from icb_pymc.cli.fits import table_of_fits

        return table_of_fits(options)
    from icb_pymc.io.files import replacing
    from icb_pymc.results.traces import read_trace

    trace = read_trace(options.trace)
    if options.event:
        import pandas as pd

        from icb_pymc.assess.impact import impact

        table = pd.DataFrame(impact(trace, given_events(options), ci_prob=options.ci_prob).records())
        # Probabilities of accounts are columns of their own.
        if "account_probability" in table:
            accounts = pd.json_normalize(table.pop("account_probability").tolist()).add_prefix("probability_of_")
            table = pd.concat([table, accounts], axis=1)
        what = "changes"
    else:
        from icb_pymc.assess.weight_table import weight_table

        table = weight_table(trace, unit=options.unit, ci_prob=options.ci_prob, every=options.every)
        what = f"weights in {'log-odds per standard deviation' if options.unit == 'sd' else 'log-odds per unit'}"
    with replacing(options.output) as temporary:
        table.to_csv(temporary, index=False)
    say(f"{len(table)} rows of {what} written to {options.output}")
    return 0
