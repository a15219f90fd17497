"""`icb reproduce`: reproduce the tables and figures of the paper."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from icb_pymc.cli.options import add_verb, positive_integer, say, write_picture
from icb_pymc.errors import InputError

# Repeated here, since `icb --help` must not import the modules that define them; a test compares the two.
TABLES = (2, 3, 4, 5, 6)
FIGURES = ("radar", "over-time", "sudden-change")


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "reproduce",
        "Reproduce the tables and figures of the paper, with the paper's numbers beside ours. Tables 2 (beliefs) and 3 "
        "(rewards) are in its main text; 4 (action matching), 5 (misspecification: quadratic agents) and 6 (sudden "
        "changes) in its appendix. Finished runs are kept: the same command, given again, continues where it stopped.",
        "icb reproduce --table 2 --table 3 --seeds 5 --jobs 2 -o out",
    )
    parser.add_argument(
        "--table", type=int, choices=TABLES, action="append", help="may be repeated (default: all tables and figures)"
    )
    parser.add_argument("--figure", choices=FIGURES, action="append", help="may be repeated")
    parser.add_argument(
        "--preset",
        choices=["exact", "paper"],
        default="exact",
        help="our samplers and proper priors, or the published settings (default: exact)",
    )
    parser.add_argument(
        "--model",
        metavar="FILE",
        action="append",
        default=[],
        help="file of a user-defined model, added as a row of the tables; may be repeated",
    )
    parser.add_argument("--seeds", type=positive_integer, help="runs per cell (default: 5; 2 with --quick)")
    parser.add_argument(
        "--quick", action="store_true", help="go through all steps in minutes, with fewer and smaller runs"
    )
    parser.add_argument("--jobs", type=positive_integer, default=1, help="processes on this machine (default: 1)")
    parser.add_argument(
        "--scheduler",
        metavar="tcp://HOST:PORT",
        help="run on this Dask cluster instead of --jobs (needs icb-pymc[cluster])",
    )
    parser.add_argument(
        "--data",
        metavar="CSV",
        help="raw OPTN liver file for the radar and over-time figures, instead of the synthetic history",
    )
    parser.add_argument("-o", "--output", default="out", metavar="FOLDER", help="folder to write (default: out)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Do the missing runs, then make the tables and figures from all finished runs."""
    everything = not (options.table or options.figure)
    numbers = sorted(set(options.table or (TABLES if everything else ())))
    names = [name for name in FIGURES if name in (options.figure or (FIGURES if everything else ()))]
    if options.data and not {"radar", "over-time"} & set(names):
        raise InputError("--data is for the figures radar and over-time; request one of them.")
    if options.model and not numbers:
        raise InputError("--model is for the tables; request one of them.")
    if options.scheduler and options.jobs > 1:
        raise InputError("give --jobs or --scheduler, not both.")
    if Path(options.output).is_file():
        raise InputError(f"{options.output} is a file; give the name of a folder.")

    from icb_pymc.io.progress import progress
    from icb_pymc.io.workers import cluster, processes
    from icb_pymc.reproduce import scale as scales
    from icb_pymc.reproduce.algorithms import user_algorithm
    from icb_pymc.reproduce.figures import FIGURES as FIGURES_MADE
    from icb_pymc.reproduce.paper_tables import TABLES as TABLES_MADE
    from icb_pymc.reproduce.paper_tables import table_rows
    from icb_pymc.reproduce.running import run_missing
    from icb_pymc.reproduce.store import Store
    from icb_pymc.reproduce.unit import in_order

    scale = scales.QUICK if options.quick else scales.FULL
    if options.seeds:
        scale = replace(scale, seeds=options.seeds)
    added = tuple(user_algorithm(path) for path in options.model)
    if len({algorithm.label for algorithm in added}) < len(added):
        raise InputError("--model: the same model is given twice.")
    tables = [replace(TABLES_MADE[number], user_algorithms=added) for number in numbers]
    figures = {FIGURES_MADE[name]: FIGURES_MADE[name].unit(options.preset, scale, options.data) for name in names}
    table_units = [unit for table in tables for unit in table.units(options.preset, scale)]
    units = in_order([*table_units, *figures.values()])
    start_workers = cluster(options.scheduler) if options.scheduler else processes(options.jobs)
    # Quick runs must not replace full ones.
    folder, suffix = Path(options.output), "-quick" if options.quick else ""
    store = Store(folder / f"units{suffix}")

    missing = [unit for unit in units if not store.has(unit)]
    say(f"{len(units)} runs, of which {len(units) - len(missing)} already exist")
    with progress(len(missing)) as advance:
        failures = run_missing(missing, store, start_workers, lambda unit: advance(unit.name))

    too_small = " These are quick runs, too small to compare with the paper's." if options.quick else ""
    for table in tables:
        note = table.note(options.preset) + too_small
        rows = table_rows(table, options.preset, scale, store)
        _write_table(table, rows, note, folder / f"table-{table.number}-{options.preset}{suffix}")
    for figure, unit in figures.items():
        if store.has(unit):
            path = folder / f"figure-{figure.name}-{options.preset}{suffix}.png"
            _write_figure(figure, store.trace(unit), path)
            _warn_if_not_converged(unit, store)
    return _report(failures, len(units))


def _write_table(table: Any, rows: Any, note: str, stem: Path) -> None:
    """Print a table, and write it as Markdown, CSV and LaTeX."""
    from icb_pymc.io.files import replacing
    from icb_pymc.reproduce.formats import as_csv, as_latex, as_markdown, as_text

    texts = {"md": as_markdown(table, rows, note), "csv": as_csv(table, rows), "tex": as_latex(table, rows, note)}
    for suffix, text in texts.items():
        with replacing(f"{stem}.{suffix}") as temporary:
            temporary.write_text(text, encoding="utf-8")
    say(f"\n{as_text(table, rows, note)}")
    say(f"written to {stem}.md, .csv and .tex")


def _write_figure(figure: Any, trace: Any, path: Path) -> None:
    write_picture(lambda: figure.draw(trace), path)
    say(f"\n{figure.title}: written to {path}")


def _warn_if_not_converged(unit: Any, store: Any) -> None:
    from icb_pymc.assess.convergence import HIGHEST_RHAT

    rhat = store.scores(unit).get("rhat", 1.0)
    if rhat > HIGHEST_RHAT:
        say(f"its chains have not converged (R-hat {rhat:.2f}): do not rely on it")


def _report(failures: Any, total: int) -> int:
    """Print what failed, and return the exit code."""
    for failure in failures:
        print(f"icb reproduce: {failure.unit.name} failed: {failure.error}", file=sys.stderr)
    if failures:
        print(f"icb reproduce: {len(failures)} of {total} runs failed; see above.", file=sys.stderr)
    return 1 if failures else 0
