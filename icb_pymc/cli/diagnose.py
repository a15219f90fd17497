"""`icb diagnose`: check the convergence of a trace."""

import argparse
from typing import Any

from icb_pymc.cli.options import PICTURES, add_json, add_verb, check_output, is_store, say, say_json, write_picture


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "diagnose",
        "Check whether the chains of a trace have converged, what to do if they have not, and whether the choices "
        "agree with the model. Exit code 0: converged, 1: not converged or no chains to diagnose, 2: not a trace.",
        "icb diagnose trace.nc -o diagnosis.png",
    )
    parser.add_argument("trace", help="netCDF file written by `icb fit`, or the folder of `icb fit --each`")
    parser.add_argument("-o", "--output", help="picture to write: .png, .pdf or .svg")
    parser.add_argument(
        "--rhat", type=float, default=1.01, metavar="LIMIT", help="limit of the rank-normalised R-hat (default: 1.01)"
    )
    parser.add_argument(
        "--ess", type=float, default=400, metavar="LIMIT", help="least bulk and tail effective draws (default: 400)"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the trace, diagnose it, print the result, and draw it if asked to."""
    if is_store(options.trace):
        from icb_pymc.cli.fits import diagnose_fits

        return diagnose_fits(options)
    if options.output:
        check_output(options.output, *PICTURES)
    from icb_pymc.assess.diagnosis import diagnose
    from icb_pymc.results.traces import read_trace_as_tree

    trace = read_trace_as_tree(options.trace)
    diagnosis = diagnose(trace, rhat_limit=options.rhat, ess_limit=options.ess)
    if options.json:
        say_json(_as_dict(diagnosis))
    else:
        say(str(diagnosis))
    if options.output:
        from icb_pymc.plots.diagnosis import diagnosis_picture

        write_picture(lambda: diagnosis_picture(trace, diagnosis), options.output)
        if not options.json:
            say(f"\nwritten to {options.output}")
    return 0 if diagnosis.converged else 1


def _as_dict(diagnosis: Any) -> dict[str, Any]:
    choices, unchanging = diagnosis.choices, diagnosis.unchanging
    return {
        "converged": diagnosis.converged,
        "label": diagnosis.label,
        "verdict": diagnosis.verdict,
        "advice": diagnosis.advice,
        "variables": diagnosis.blocks,
        "worst_components": diagnosis.worst,
        "steps_by_chain": diagnosis.acceptance,
        "choices": None if choices is None else vars(choices) | {"is_calibrated": choices.is_calibrated},
        "choices_left_out": diagnosis.left_out or None,
        "unchanging": None if unchanging is None else vars(unchanging) | {"is_worse": unchanging.is_worse},
    }
