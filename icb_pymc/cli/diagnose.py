"""`icb diagnose`: whether to believe a trace."""

import argparse

from icb_pymc.cli.options import add_verb, check_output, say


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "diagnose",
        "Tell whether the chains of a trace have converged, what to do if not, and whether choices are as the model "
        "says. Exit code 0: converged, 1: not converged, 2: no trace.",
        "icb diagnose trace.nc -o diagnosis.png",
    )
    parser.add_argument("trace", help="netCDF file written by `icb fit`")
    parser.add_argument("-o", "--output", help="picture to write: .png, .pdf or .svg")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, diagnose, say, and perhaps draw."""
    if options.output:
        check_output(options.output, ".png", ".pdf", ".svg")
    from icb_pymc.assess.diagnosis import diagnose
    from icb_pymc.results.traces import read_trace

    trace = read_trace(options.trace)
    found = diagnose(trace)
    say(str(found))
    if options.output:
        import matplotlib as mpl

        # No screen is needed to write a file.
        mpl.use("Agg")
        from icb_pymc.io.files import replacing
        from icb_pymc.plots.diagnosis import diagnosis_picture

        figure = diagnosis_picture(trace, found)
        with replacing(options.output) as temporary:
            figure.savefig(temporary, dpi=150, bbox_inches="tight")
        say(f"\nwritten to {options.output}")
    return 0 if found.converged else 1
