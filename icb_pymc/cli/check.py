"""`icb check`: whether a model is right."""

import argparse

from icb_pymc.cli.options import add_settings, add_verb, check_output, given_settings, say, whole_number, zero_or_more


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "check",
        "Check a model: its names, dims and densities, and whether its inference finds what its own simulation drew "
        "(simulation-based calibration). Exit code 0: right, 1: wrong, 2: bad input.",
        "icb check my_model.py -o check.png",
    )
    parser.add_argument("model", help="path of a file with a model, or name of one (`icb models` lists them)")
    parser.add_argument("-o", "--output", help="picture to write: .png, .pdf or .svg")
    parser.add_argument("--replicates", type=whole_number, default=50, help="logs to simulate and infer (default: 50)")
    parser.add_argument("--steps", type=whole_number, default=25, help="decisions in each (default: 25)")
    parser.add_argument("--draws", type=whole_number, help="posterior draws from each (default: 400; by NUTS 200)")
    parser.add_argument("--seed", type=zero_or_more, default=0, help="same seed, same result (default: 0)")
    parser.add_argument("--jobs", type=whole_number, help="processes (default: as many as the machine can)")
    add_settings(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check, say, and perhaps draw."""
    if options.output:
        check_output(options.output, ".png", ".pdf", ".svg")
    from icb_pymc.assess.calibration import check

    found = check(
        options.model,
        replicates=options.replicates,
        steps=options.steps,
        draws=options.draws,
        seed=options.seed,
        jobs=options.jobs,
        progressbar=True,
        hyperparameters=given_settings(options),
    )
    say(str(found))
    if options.output and found.relative_ranks is not None:
        import matplotlib as mpl

        # No screen is needed to write a file.
        mpl.use("Agg")
        from icb_pymc.io.files import replacing
        from icb_pymc.plots.calibration import calibration_picture

        figure = calibration_picture(found)
        with replacing(options.output) as temporary:
            figure.savefig(temporary, dpi=150, bbox_inches="tight")
        say(f"\nwritten to {options.output}")
    return 0 if found.passed else 1
