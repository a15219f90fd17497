"""`icb share`: write a smaller trace for sharing."""

import argparse
from pathlib import Path

from icb_pymc.cli.options import add_json, add_verb, check_output, positive_integer, say, say_json


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "share",
        "Write a smaller trace for sharing: fewer draws, fewer times, single precision; the file says what was kept.",
        "icb share trace.nc --draws 400 --every 6 -o shared.nc",
    )
    parser.add_argument("trace", help="netCDF file written by `icb fit`")
    parser.add_argument("-o", "--output", required=True, help="trace to write")
    parser.add_argument(
        "--draws", type=positive_integer, help="largest number of draws to keep per chain (default: all)"
    )
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--every", type=positive_integer, default=1, metavar="N", help="keep every N-th time (default: all)"
    )
    chosen.add_argument("--times", nargs="+", metavar="TIME", help="keep these times: numbers or dates")
    parser.add_argument(
        "--dtype", choices=["float32", "float64"], default="float32", help="precision of the draws (default: float32)"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the trace, reduce it, write it, and print what was kept."""
    check_output(options.output, ".nc")
    from icb_pymc.data.times import time_within
    from icb_pymc.io.machine import format_bytes
    from icb_pymc.results.inference_data import group
    from icb_pymc.results.sharing import share
    from icb_pymc.results.traces import read_trace, write_trace

    trace = read_trace(options.trace)
    time = group(trace, "constant_data")["time"].values
    times = None if options.times is None else [time_within(time, moment) for moment in options.times]
    shared = share(trace, draws=options.draws, every=options.every, times=times, dtype=options.dtype)
    write_trace(shared, options.output)
    before, after = (Path(path).stat().st_size for path in (options.trace, options.output))
    if options.json:
        sizes = {"bytes": after, "bytes_before": before}
        say_json({"output": options.output, "kept": shared.attrs["shared"]} | sizes)
        return 0
    say(f"kept: {shared.attrs['shared']}")
    say(f"written to {options.output} ({format_bytes(after)} instead of {format_bytes(before)})")
    return 0
