"""The same question asked of every subject of a store: convergence, and which of several models predicts better."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.assess.comparison import check_same, loo_scores
from icb_pymc.assess.convergence import ESS_LIMIT, RHAT_LIMIT
from icb_pymc.assess.diagnosis import diagnose
from icb_pymc.errors import InputError
from icb_pymc.io.progress import progress
from icb_pymc.results.fits import Fits


class BySubject(NamedTuple):
    """Answers.

    Attributes
    ----------
    table : DataFrame
        Rows of all subjects, the name of the subject in the first column.
    failures : dict of str to str
        Why there is no answer for a subject: its fit or the question failed.
    """

    table: pd.DataFrame
    failures: dict[str, str]


def by_subject(
    fits: Fits, answer: Callable[[str, xr.DataTree], list[dict[str, Any]]], progressbar: bool = False
) -> BySubject:
    """Ask every subject; one that cannot answer does not stop the others.

    Parameters
    ----------
    fits : Fits
    answer : callable
        ``answer(subject, trace)`` returns rows of the table.
    progressbar : bool
        Show one.
    """
    rows, failures = [], {subject: fits.failures.get(subject, "it was not fitted yet.") for subject in fits.missing}
    subjects = list(fits)
    if not subjects:
        raise InputError(f"{fits.folder} holds no finished fits yet; give the `icb fit --each` that made it again.")
    with progress(len(subjects), progressbar) as advance:
        for subject in subjects:
            try:
                rows += [{"subject": subject, **row} for row in answer(subject, fits.tree(subject))]
            except InputError as error:
                failures[subject] = str(error)
            advance(subject)
    if not rows:
        subject, reason = next(iter(failures.items()))
        raise InputError(f"{fits.folder}: there is an answer for no subject; '{subject}': {reason}")
    return BySubject(pd.DataFrame(rows), failures)


def diagnose_each(
    fits: Fits, *, rhat_limit: float = RHAT_LIMIT, ess_limit: float = ESS_LIMIT, progressbar: bool = False
) -> BySubject:
    """Whether the chains of every subject have converged.

    Parameters
    ----------
    fits : Fits
    rhat_limit, ess_limit : float
        As in `icb_pymc.diagnose`.
    progressbar : bool
        Show one.

    Returns
    -------
    BySubject
        Columns `converged`, the worst `rhat`, the lowest `ess`, and the `verdict`.
    """

    def answer(subject: str, trace: xr.DataTree) -> list[dict[str, Any]]:
        found = diagnose(trace, rhat_limit=rhat_limit, ess_limit=ess_limit)
        row: dict[str, Any] = {"converged": found.converged, "rhat": np.nan, "ess": np.nan, "verdict": found.verdict}
        if len(found.blocks):
            row |= {"rhat": found.blocks["R-hat"].max(), "ess": found.blocks[["bulk ESS", "tail ESS"]].min().min()}
        return [row]

    return by_subject(fits, answer, progressbar)


def compare_each(stores: Mapping[str, Fits], *, progressbar: bool = False) -> BySubject:
    """Expected log probability of choices left out (PSIS-LOO), for every subject that all models were fitted to.

    Parameters
    ----------
    stores : mapping of str to Fits
        Two stores or more by name.
    progressbar : bool
        Show one.

    Returns
    -------
    BySubject
        A column `elpd` for each subject and model, and `decisions`, how many the subject made.
    """
    if len(stores) < 2:
        raise InputError("give two folders of fits or more.")
    first = next(iter(stores.values()))

    def answer(subject: str, trace: xr.DataTree) -> list[dict[str, Any]]:
        traces = {name: trace if fits is first else fits.tree(_known(fits, subject)) for name, fits in stores.items()}
        check_same(traces)
        scores, _ = loo_scores(traces)
        return [{"model": name, "elpd": each.sum(), "decisions": len(each)} for name, each in scores.items()]

    return by_subject(first, answer, progressbar)


def comparison_summary(table: pd.DataFrame) -> pd.DataFrame:
    """How models compare over subjects, best first, from the table of `compare_each`.

    Returns
    -------
    DataFrame
        `elpd`, the sum over subjects; `elpd_diff`, how much lower it is than that of the best model, and `dse`, its
        standard error, from how much the difference varies between subjects; `best_for`, how many subjects the model is
        the best for.
    """
    wide = table.pivot(index="subject", columns="model", values="elpd")
    totals = wide.sum().sort_values(ascending=False)
    difference = wide[totals.index[0]].to_numpy()[:, None] - wide[totals.index].to_numpy()
    spread = difference.std(axis=0, ddof=1) if len(wide) > 1 else np.full(len(totals), np.nan)
    best = wide.idxmax(axis=1).value_counts()
    columns = {
        "elpd": totals,
        "elpd_diff": difference.sum(axis=0),
        "dse": np.sqrt(len(wide)) * spread,
        "best_for": [int(best.get(name, 0)) for name in totals.index],
    }
    return pd.DataFrame(columns, index=totals.index).rename_axis("model")


def _known(fits: Fits, subject: str) -> str:
    if subject not in fits.subjects:
        raise InputError(f"{fits.folder} has no subject '{subject}'.")
    return subject
