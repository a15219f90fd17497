"""Tables as plain text, Markdown, CSV and LaTeX, with the paper's number beside each of ours."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from icb_pymc.assess.convergence import HIGHEST_RHAT
from icb_pymc.reproduce.paper_tables import PaperTable, disagreements

NO_RUN = "-"


def as_text(table: PaperTable, rows: pd.DataFrame, note: str) -> str:
    """Each row followed by the paper's row; a star marks the best of each column."""
    ours = _grid(rows, "", lambda text, best: f"{text}{'*' if best else ' '}")
    theirs = _grid(rows, "paper_", lambda text, best: f"{text}{'*' if best else ' '}")
    lines = [pd.concat([ours.loc[[name]], theirs.loc[[name]].rename({name: "  paper"})]) for name in ours.index]
    body = pd.concat(lines).rename(columns=str.capitalize)
    body.index.name = body.columns.name = None
    return "\n".join([_title(table), body.to_string(), *_remarks(rows, note, "*")])


def as_markdown(table: PaperTable, rows: pd.DataFrame, note: str) -> str:
    """Cells of the form ours / the paper's; the best of each column is bold."""

    def bold(text: str, best: bool) -> str:
        return f"**{text}**" if best else text

    body = _grid(rows, "", bold) + " / " + _grid(rows, "paper_", bold)
    header = ["algorithm (here / paper)", *map(str.capitalize, body.columns)]
    lines = [
        header,
        ["---"] * len(header),
        *([name, *cells] for name, cells in zip(body.index, body.values, strict=True)),
    ]
    grid = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join([f"**{_title(table)}**", grid, "\n".join(_remarks(rows, note, "bold"))]) + "\n"


def as_csv(table: PaperTable, rows: pd.DataFrame) -> str:
    """One line per cell."""
    text: str = rows.assign(table=table.number).set_index("table").to_csv(float_format="%.6g", lineterminator="\n")
    return text


def as_latex(table: PaperTable, rows: pd.DataFrame, note: str) -> str:
    """A table for booktabs; the best of each column is bold."""

    def bold(text: str, best: bool) -> str:
        text = text.replace(" ", "~").replace(NO_RUN, "--")
        return rf"\textbf{{{text}}}" if best else text

    body = _grid(rows, "", bold) + " / " + _grid(rows, "paper_", bold)
    lines = [" & ".join(["Algorithm", *map(str.capitalize, body.columns)]) + r" \\", r"\midrule"]
    for name, cells in zip(body.index, body.values, strict=True):
        label = str(name).replace("T-fold", "$T$-fold")
        lines.append(" & ".join([label, *cells]) + r" \\")
    caption = " ".join([f"{table.title}, here / in the paper.", *_remarks(rows, note, "bold")])
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escaped(caption)}}}",
            rf"\begin{{tabular}}{{l*{{{len(body.columns)}}}{{c}}}}",
            r"\toprule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _grid(rows: pd.DataFrame, whose: str, mark: Callable[[str, bool], str]) -> pd.DataFrame:
    """Cells as text: a row for each algorithm, a column for each agent, in the order of `rows`."""
    cells = [
        mark(_format_cell(mean, sd), bool(best))
        for mean, sd, best in zip(rows[f"{whose}mean"], rows[f"{whose}sd"], rows[f"{whose}best"], strict=True)
    ]
    algorithms, agents = rows["algorithm"].unique(), rows["agent"].unique()
    return pd.DataFrame(np.reshape(np.array(cells, dtype=object), (len(algorithms), -1)), algorithms, agents)


def _format_cell(mean: float, sd: float) -> str:
    """In the paper's form: 0.178 (.01)."""
    if np.isnan(mean):
        return NO_RUN
    if np.isnan(sd):
        return f"{mean:.3f}"
    spread = f"{sd:.2f}".removeprefix("0") if sd < 1 else f"{sd:.1f}"
    return f"{mean:.3f} ({spread})"


def _title(table: PaperTable) -> str:
    return f"Table {table.number}. {table.title}"


def _remarks(rows: pd.DataFrame, note: str, mark: str) -> list[str]:
    most = int(rows["seeds"].max())
    remarks = [
        f"{f'Mean and standard deviation over {most} seeds' if most > 1 else 'One seed'}; the best for each agent is "
        f"{'marked *' if mark == '*' else 'bold'}. {note}"
    ]
    differing = disagreements(rows)
    if differing:
        details = "; ".join(f"{agent}: {ours} here, {theirs} there" for agent, (ours, theirs) in differing.items())
        agents = rows["agent"].nunique()
        remarks.append(
            f"The best algorithm differs from the paper's for {len(differing)} of {agents} agents. {details}."
        )
    else:
        remarks.append("The best algorithm is the paper's for every agent.")
    short = rows[rows["seeds"] < most]
    if len(short):
        cells = ", ".join(f"{row.algorithm} on {row.agent} ({row.seeds:.0f})" for row in short.itertuples())
        remarks.append(f"Cells with fewer seeds, because runs failed: {cells}.")
    return [*remarks, _describe_convergence(rows)]


def _describe_convergence(rows: pd.DataFrame) -> str:
    """One sentence on how many runs have converged."""
    checked, failed = int(rows["chains"].sum()), int(rows["not_converged"].sum())
    if not checked:
        return "Convergence cannot be checked: no run has more than one chain."
    if not failed:
        return f"All {checked} runs with several chains have converged (worst R-hat at most {HIGHEST_RHAT})."
    bad = rows[rows["not_converged"] > 0]
    cells = ", ".join(f"{row.algorithm} on {row.agent} ({row.not_converged:.0f})" for row in bad.itertuples())
    return f"{failed} of {checked} runs have not converged (worst R-hat above {HIGHEST_RHAT}): {cells}."


def _escaped(text: str) -> str:
    return text.replace("%", r"\%").replace("_", r"\_").replace("&", r"\&")
