"""`icb report` of a folder of fits: a page on all subjects, and a report on each beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from icb_pymc.assess.population import NOTE, Population, population
from icb_pymc.errors import InputError
from icb_pymc.io.files import replacing
from icb_pymc.io.plain_json import as_json_text
from icb_pymc.io.progress import progress
from icb_pymc.reports.names import as_markdown, display_names, safe_text
from icb_pymc.reports.page_file import environment, form_of, locked_style
from icb_pymc.reports.report import report
from icb_pymc.results.fits import Fits


@dataclass(frozen=True, eq=False)
class PopulationReport:
    """Result of `population_report`; print it for the numbers of all subjects together.

    Attributes
    ----------
    fits : Fits
    found : Population
    events : mapping, optional
    question : dict
        Further arguments of `icb_pymc.report` for each subject.
    title : str, optional
    """

    fits: Fits
    found: Population
    events: Any = None
    question: dict[str, Any] = field(default_factory=dict)
    title: str | None = None

    def __str__(self) -> str:
        return str(self.found)

    def write(self, path: str | Path, *, progressbar: bool = False) -> Path:
        """Write the page, and the reports on the subjects into a folder beside it that has the name of the page.

        Parameters
        ----------
        path : path
            Ending in .html, .md or .json.
        progressbar : bool
            Show one.

        Returns
        -------
        Path

        Raises
        ------
        InputError
            If it has another suffix or cannot be written.
        """
        target = Path(path)
        form = form_of(target)
        folder = target.parent / f"{target.stem}_subjects"
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder} cannot be created: {error.strerror}.") from error
        said, failures = {}, dict(self.found.failures)
        subjects = list(self.fits)
        with progress(len(subjects), progressbar) as advance:
            for subject in subjects:
                try:
                    source = self.fits.path(subject)
                    made = report(self.fits.tree(subject), self.events, source=source, title=subject, **self.question)
                    made.write(folder / f"{source.stem}{target.suffix}")
                    said[subject] = str(made).splitlines()
                except InputError as error:
                    failures[subject] = str(error)
                advance(subject)
        text = getattr(self, f"_{form}")(said, failures, folder.name, target.suffix)
        with replacing(target) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        return target

    def _html(self, said: dict[str, list[str]], failures: dict[str, str], folder: str, suffix: str) -> str:
        template, (style, policy) = environment(autoescape=True), locked_style()
        parts = self._parts(said, failures, folder, suffix, lambda text: text)
        return template.get_template("population.html").render(parts, style=style, policy=policy)

    def _markdown(self, said: dict[str, list[str]], failures: dict[str, str], folder: str, suffix: str) -> str:
        parts = self._parts(said, failures, folder, suffix, as_markdown)
        return environment(autoescape=False).get_template("population.md").render(parts)

    def _json(self, said: dict[str, list[str]], failures: dict[str, str], folder: str, suffix: str) -> str:
        files = {subject: f"{folder}/{self.fits.path(subject).stem}{suffix}" for subject in said}
        subjects = [{"name": subject, "report": files[subject], "says": lines} for subject, lines in said.items()]
        answer = {"model": self.fits.settings.get("model"), "unit": self.found.unit, "population": self.found.summary}
        return as_json_text(answer | {"changes": self.found.table, "subjects": subjects, "failures": failures})

    def _parts(
        self, said: dict[str, list[str]], failures: dict[str, str], folder: str, suffix: str, mark: Any
    ) -> dict[str, Any]:
        names = display_names(self.fits.subjects)
        features = display_names(self.found.summary.index.unique("feature"))
        tables = []
        for quantity in self.found.summary.index.unique("quantity"):
            caption = mark(f"{safe_text(quantity)}, in {_unit(self.found.unit)}")
            rows = self.found.summary.loc[quantity]
            tables.append({"caption": caption, "head": HEAD, "rows": _rows(rows, features, mark)})
        subjects = []
        for subject, name in names.items():
            if subject in said:
                link = f"{folder}/{self.fits.path(subject).stem}{suffix}"
                says = " ".join(mark(safe_text(line, 400)) for line in said[subject])
            else:
                link, says = None, mark(safe_text(f"no report: {failures.get(subject, 'not fitted')}", 400))
            subjects.append({"name": mark(name), "link": link, "says": says})
        model = mark(safe_text(self.fits.settings.get("model", "a model")))
        fitted, all_of_them = len(self.fits), len(self.fits.subjects)
        lead = f"{fitted} of {all_of_them} subjects, each fitted on its own by {model}."
        title = mark(safe_text(self.title or "What counted, over many subjects", 200))
        return {"title": title, "lead": lead, "tables": tables, "note": NOTE, "subjects": subjects}


HEAD = ["feature", "subjects", "mean", "standard error", "spread", "uncertainty", "clearly above 0", "clearly below 0"]


def population_report(
    fits: Fits,
    events: Any = None,
    *,
    features: Sequence[str] | None = None,
    before: Any = None,
    after: Any = None,
    matters: float | None = None,
    quick: bool = False,
    title: str | None = None,
    progressbar: bool = False,
) -> PopulationReport:
    """A page on many subjects: what they have in common, and a link to a report on each of them.

    Parameters
    ----------
    fits : Fits
        From `icb_pymc.fit_each` or `icb_pymc.read_fits`.
    events, features, before, after, matters, quick
        As in `icb_pymc.report`.
    title : str, optional
    progressbar : bool
        Show one.

    Returns
    -------
    PopulationReport
        With `write`.

    Raises
    ------
    InputError
        If there is no subject with an answer, or an argument is not valid.
    """
    asked: Mapping[str, Any] = {"features": features, "before": before, "after": after, "matters": matters}
    of_population = asked if events is not None else {"features": features}
    found = population(fits, events, progressbar=progressbar, **of_population)
    return PopulationReport(fits, found, events, {**asked, "quick": quick}, title)


def _rows(table: pd.DataFrame, features: Mapping[str, str], mark: Any) -> list[list[str]]:
    rows = []
    for feature, row in table.iterrows():
        numbers = [f"{row['mean']:+.2f}", *(f"{row[name]:.2f}" for name in ("se", "spread", "uncertainty"))]
        counts = [f"{row[name]:.0f}" for name in ("above", "below")]
        rows.append([mark(features[str(feature)]), f"{row['subjects']:.0f}", *numbers, *counts])
    return rows


def _unit(unit: str) -> str:
    return "log-odds per standard deviation" if unit == "sd" else "log-odds per unit"
