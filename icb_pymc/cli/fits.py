"""What the verbs that read a trace print and write of a folder of fits: each subject's answer, and all together."""

import argparse
import sys
from pathlib import Path
from typing import Any

from icb_pymc.cli.options import given_events, say, say_json, write_picture
from icb_pymc.errors import InputError


def diagnose_fits(options: argparse.Namespace) -> int:
    """How many subjects have converged, and which have not; exit code 1 unless all have."""
    from icb_pymc.assess.by_subject import diagnose_each
    from icb_pymc.results.fits import read_fits

    if options.output:
        raise InputError("-o draws one trace; give that of one subject from the folder.")
    limits = {"rhat_limit": options.rhat, "ess_limit": options.ess}
    found = diagnose_each(read_fits(options.trace), **limits, progressbar=_is_watched(options))
    converged = int(found.table["converged"].sum())
    is_good = converged == len(found.table) and not found.failures
    if options.json:
        subjects = {"fitted": len(found.table), "converged": converged, "failures": found.failures}
        say_json(subjects | {"subjects": found.table})
        return 0 if is_good else 1
    bad = found.table[~found.table["converged"]]
    for verdict, part in bad.groupby("verdict", sort=False):
        names = ", ".join(part["subject"].head(5)) + (f" and {len(part) - 5} more" if len(part) > 5 else "")
        say(f"NOT converged: {names}: {verdict}")
    _say_failures(found.failures)
    worst = found.table[["rhat", "ess"]].dropna()
    if len(worst):
        say(f"worst R-hat {worst['rhat'].max():.3f}, lowest ESS {worst['ess'].min():.0f}")
    say(f"{converged} of {len(found.table)} subjects have converged")
    return 0 if is_good else 1


def compare_fits(options: argparse.Namespace) -> int:
    """Which model predicts better, for each subject and over all."""
    from icb_pymc.assess.by_subject import compare_each, comparison_summary
    from icb_pymc.assess.comparison import CAUTION
    from icb_pymc.results.fits import is_store, read_fits

    others = [path for path in options.traces if not is_store(path)]
    if others:
        raise InputError(f"{others[0]} is not a folder of fits; compare folders with folders, traces with traces.")
    if options.ahead or options.folds:
        raise InputError("--ahead and --folds are for traces; folders of fits are compared by choices left out.")
    names = [Path(path).name for path in options.traces]
    names = names if len(set(names)) == len(names) else options.traces
    if len(set(names)) < len(names):
        raise InputError("the same folder is given twice.")
    stores = {name: read_fits(path) for name, path in zip(names, options.traces, strict=True)}
    found = compare_each(stores, progressbar=_is_watched(options))
    table = comparison_summary(found.table)
    if options.json:
        answer = {"score": "psis_loo", "models": table, "subjects": found.table, "failures": found.failures}
        say_json(answer)
        return 0
    subjects = found.table["subject"].nunique()
    say(f"expected log probability of choices left out one at a time (PSIS-LOO), summed over {subjects} subjects\n")
    say(table.to_string(float_format="{:.1f}".format))
    _say_failures(found.failures)
    say(f"\n- {CAUTION}")
    return 0


def plot_fits(options: argparse.Namespace) -> int:
    """Weights or importance of all subjects over time."""
    from icb_pymc.results.fits import read_fits

    if options.picture not in ("weights", "importance"):
        raise InputError(f"{options.picture} draws one trace; give that of one subject from the folder.")
    if options.agent:
        raise InputError("--agent is for a trace of several agents; give the trace of one subject from the folder.")
    fits = read_fits(options.trace)
    from icb_pymc.plots.subjects import subjects_over_time

    features = options.features.split(",") if options.features else None
    shown: dict[str, Any] = {"of": options.picture, "features": features, "events": given_events(options)}
    shown |= {"unit": options.unit or "sd", "progressbar": sys.stderr.isatty()}
    write_picture(lambda: subjects_over_time(fits, **shown), options.output)
    say(f"written to {options.output}")
    return 0


def impact_of_fits(options: argparse.Namespace) -> int:
    """The change of each subject's weights around events, and their mean and spread."""
    if options.placebos:
        raise InputError("--placebos is for one trace; give that of one subject from the folder.")
    found = _population(options, features=options.feature or None, matters=options.matters, **_windows(options))
    if options.json:
        say_json({"unit": found.unit, "population": found.summary, "subjects": found.table, "failures": found.failures})
    else:
        say(str(found))
        verdicts = found.table.groupby(["quantity", "feature", "verdict"], sort=False).size().unstack(fill_value=0)
        say(f"\nverdicts, by how many subjects\n{verdicts.to_string()}")
        _say_failures(found.failures)
    if options.output:
        from icb_pymc.plots.subjects import changes_by_subject

        write_picture(lambda: changes_by_subject(found), options.output)
        if not options.json:
            say(f"\nwritten to {options.output}")
    return 0


def table_of_fits(options: argparse.Namespace) -> int:
    """The table of each subject, one below the other, with the subject in the first column."""
    from icb_pymc.assess.weight_table import weight_table
    from icb_pymc.io.files import replacing
    from icb_pymc.io.progress import progress
    from icb_pymc.results.fits import read_fits

    if options.event:
        found = _population(options, ci_prob=options.ci_prob, unit=options.unit)
        with replacing(options.output) as temporary:
            found.table.to_csv(temporary, index=False)
        _say_failures(found.failures)
        say(f"{len(found.table)} rows of changes written to {options.output}")
        return 0
    fits, rows = read_fits(options.trace), 0
    subjects = list(fits)
    if not subjects:
        raise InputError(f"{fits.folder} holds no finished fits yet.")
    # Written subject by subject, since the tables of all may be larger than the memory.
    with (
        replacing(options.output) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as file,
        progress(len(subjects), sys.stderr.isatty()) as advance,
    ):
        for subject in subjects:
            table = weight_table(fits.tree(subject), unit=options.unit, ci_prob=options.ci_prob, every=options.every)
            table.insert(0, "subject", subject)
            table.to_csv(file, index=False, header=rows == 0)
            rows += len(table)
            advance(subject)
    _say_failures({subject: fits.failures.get(subject, "it was not fitted yet.") for subject in fits.missing})
    say(f"{rows} rows of weights of {len(subjects)} subjects written to {options.output}")
    return 0


def report_of_fits(options: argparse.Namespace) -> int:
    """A page on all subjects, and beside it a report on each."""
    from icb_pymc.reports.population import population_report
    from icb_pymc.results.fits import read_fits

    if options.others:
        raise InputError("more.nc: a report on a folder of fits takes no other fits; use icb compare.")
    if options.example:
        raise InputError("--example is for a report on one trace; give that of one subject from the folder.")
    made = population_report(
        read_fits(options.trace),
        given_events(options) or None,
        features=options.feature or None,
        matters=options.matters,
        quick=options.quick,
        title=options.title,
        progressbar=sys.stderr.isatty(),
        **_windows(options),
    )
    made.write(options.output, progressbar=sys.stderr.isatty())
    say(f"{made}\n\nwritten to {options.output}")
    return 0


def _population(options: argparse.Namespace, **question: Any) -> Any:
    from icb_pymc.assess.population import population
    from icb_pymc.results.fits import read_fits

    return population(read_fits(options.trace), given_events(options), progressbar=_is_watched(options), **question)


def _windows(options: argparse.Namespace) -> dict[str, Any]:
    return {"before": options.before, "after": options.after}


def _is_watched(options: argparse.Namespace) -> bool:
    return sys.stderr.isatty() and not getattr(options, "json", False)


def _say_failures(failures: dict[str, str]) -> None:
    for subject, reason in failures.items():
        print(f"warning: no answer for '{subject}': {reason}", file=sys.stderr)
