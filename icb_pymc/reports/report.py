"""`report`: one file that a decision-maker can read, with the same content as HTML, Markdown and JSON."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from icb_pymc.io.files import replacing
from icb_pymc.io.plain_json import as_json_text
from icb_pymc.io.text import visible
from icb_pymc.reports.findings import Findings, find
from icb_pymc.reports.names import END, ISOLATE, as_markdown
from icb_pymc.reports.numbers import numbers_of
from icb_pymc.reports.page import parts_of
from icb_pymc.reports.page_file import environment, form_of, locked_style
from icb_pymc.reports.parts import Names
from icb_pymc.results.inference_data import InferenceData


@dataclass(frozen=True, eq=False)
class Report:
    """Result of `report`: the same content in three forms; print it for the answers.

    Attributes
    ----------
    findings : Findings
        The numbers.
    title : str, optional
    source : str, optional
        File of the trace.
    options : tuple of str
        Options of the command that makes this report again.
    """

    findings: Findings
    title: str | None = None
    source: str | None = None
    options: tuple[str, ...] = ()

    @cached_property
    def html(self) -> str:
        """One page that needs no network, no server and no JavaScript."""
        style, policy = locked_style()
        parts = self._parts(lambda text: text)
        page = environment(autoescape=True).get_template("report.html").render(parts, style=style, policy=policy)
        return _without_control(page)

    @cached_property
    def markdown(self) -> str:
        """The same without charts, as Markdown."""
        return _without_control(
            environment(autoescape=False).get_template("report.md").render(self._parts(as_markdown))
        )

    @cached_property
    def json(self) -> str:
        """The numbers and the answers, for other programs."""
        return as_json_text(numbers_of(self.findings, self._parts(lambda text: text)))

    def write(self, path: str | Path) -> Path:
        """Write the form that the suffix of the path asks for; the file is written whole or not at all.

        Parameters
        ----------
        path : path
            Ending in .html, .md or .json.

        Returns
        -------
        Path

        Raises
        ------
        InputError
            If it has another suffix or cannot be written.
        """
        target = Path(path)
        text = getattr(self, form_of(target))
        with replacing(target) as temporary:
            # A lone surrogate in a name, which UTF-8 cannot hold, was replaced before.
            temporary.write_text(text, encoding="utf-8", newline="\n")
        return target

    def __str__(self) -> str:
        parts = self._parts(lambda text: text)
        lines = [f"{answer['grade_word']}: {answer['headline']}" for answer in parts["answers"]]
        return "\n".join(lines or [parts["dates_sentence"]])

    def _parts(self, mark: Any) -> dict[str, Any]:
        names = Names.of(self.findings.decisions, mark)
        return parts_of(self.findings, names, self.title, self.source, list(self.options))


def report(
    trace: InferenceData,
    events: Any = None,
    *,
    others: Mapping[str, InferenceData] | None = None,
    features: Sequence[str] | None = None,
    before: Any = None,
    after: Any = None,
    matters: float | None = None,
    examples: Sequence[Any] | None = None,
    ci_prob: float | None = None,
    quick: bool = False,
    title: str | None = None,
    source: str | Path | None = None,
    progressbar: bool = False,
) -> Report:
    """Make a page that answers whether events changed what counted, shows why to believe it, and what it cannot tell.

    Parameters
    ----------
    trace : InferenceData
        Of `icb_pymc.fit`.
    events : date, int, sequence of them, or mapping to labels, optional
        As in `icb_pymc.impact`, which must have been fixed beforehand. Without any, the report says when preferences
        changed of themselves.
    others : mapping of str to InferenceData, optional
        Fits of other models to the same decisions, by name, to compare with.
    features : sequence of str, optional
        Those to ask about; all by default.
    before, after : str or int, optional
        Lengths of the windows around events, as in `icb_pymc.impact`.
    matters : float, optional
        Changes of less than this, in log-odds per standard deviation, do not matter.
    examples : sequence of dates or int, optional
        Decisions of the log to use as examples; by default three that the changes alter much, somewhat and little.
    ci_prob : float, optional
        Probability of the credible intervals; by default that of ArviZ's ``rcParams["stats.ci_prob"]``.
    quick : bool
        Leave out what needs new computations: dates where nothing happened, and other prior scales.
    title : str, optional
    source : path, optional
        File of the trace, for the commands that make the report again.
    progressbar : bool
        Show one where checks take long.

    Returns
    -------
    Report
        With the forms `html`, `markdown` and `json`, and `write`.

    Raises
    ------
    InputError
        If the trace has no beliefs or not its decisions, or an argument is not valid; see `icb_pymc.impact`.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> report = icb_pymc.report(trace, {250: "guideline"}, features=["age", "inr"], quick=True)
    >>> print(report)
    Clear: After decision 250 (guideline), ...
    >>> report.html[:15]
    '<!doctype html>'
    """
    findings = find(
        trace,
        events,
        dict(others or {}),
        features=features,
        before=before,
        after=after,
        matters=matters,
        examples=examples,
        ci_prob=ci_prob,
        quick=quick,
        progressbar=progressbar,
    )
    options = _options(findings, features, before, after, matters, examples, quick)
    return Report(findings, title, None if source is None else str(source), tuple(options))


def _options(
    findings: Findings,
    features: Sequence[str] | None,
    before: Any,
    after: Any,
    matters: float | None,
    examples: Sequence[Any] | None,
    quick: bool,
) -> list[str]:
    """The options of ``icb report`` that ask the same question."""
    words = []
    for found in findings.events:
        # Without a time of day that nobody gave.
        moment = re.sub(r"T00:00:00(\.0+)?$", "", str(found.event.time))
        words += ["--event", f"{moment}={found.event.label}" if found.event.label else moment]
    for name in features or ():
        words += ["--feature", str(name)]
    for option, value in (("--before", before), ("--after", after), ("--matters", matters)):
        if value is not None:
            words += [option, str(value)]
    for moment in examples or ():
        words += ["--example", str(moment)]
    return [*words, "--quick"] if quick else words


def _without_control(page: str) -> str:
    """A page in which nothing cannot be seen, whatever text of a trace it contains, but line ends and our own marks."""
    return visible(page, kept=f"\n\t{ISOLATE}{END}")
