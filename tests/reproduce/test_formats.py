import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from icb_pymc.cli import reproduce as verb
from icb_pymc.reproduce.figures import FIGURES
from icb_pymc.reproduce.formats import as_csv, as_latex, as_markdown, as_text
from icb_pymc.reproduce.paper_tables import TABLES, PaperTable, disagreements, table_rows
from icb_pymc.reproduce.published import published
from icb_pymc.reproduce.scale import FULL

TABLE = PaperTable(3, "Rewards", "reward", ("Baseline", "B-ICB"))


@pytest.fixture
def rows():
    return pd.DataFrame(
        {
            "algorithm": ["Baseline", "Baseline", "B-ICB", "B-ICB"],
            "agent": ["stationary", "stepping"] * 2,
            "mean": [0.4774, 0.2, 0.1215, np.nan],
            "sd": [0.0, 0.014, 0.026, np.nan],
            "seeds": [5, 5, 5, 0],
            "chains": [0, 0, 5, 0],
            "not_converged": [0, 0, 2, 0],
            "paper_mean": [0.477, 0.477, 0.121, 0.161],
            "paper_sd": [0.0, 0.0, 0.03, 0.02],
            "best": [False, True, True, False],
            "paper_best": [False, False, True, True],
        }
    )


def test_every_cell_of_every_table_has_the_papers_number():
    for table in TABLES.values():
        for agent in table.agents(FULL):
            for algorithm in table.algorithms:
                assert published().loc[(table.number, algorithm, agent), "mean"] > 0
    assert len(published()) == sum(len(t.agents(FULL)) * len(t.algorithms) for t in TABLES.values())


def test_the_papers_numbers_are_as_printed():
    assert tuple(published().loc[(2, "NB-ICB", "stepping")]) == (0.150, 0.01)
    assert tuple(published().loc[(6, "T-fold IRL", "switching")]) == (1.661, 0.006)


def test_the_help_names_all_tables_and_figures():
    assert tuple(TABLES) == verb.TABLES
    assert tuple(FIGURES) == verb.FIGURES


def test_text_has_the_papers_row_below_each_and_a_star_for_the_best(rows):
    text = as_text(TABLE, rows, "Preset exact.")
    title, header, *lines = text.splitlines()
    assert title == "Table 3. Rewards"
    assert header.split() == ["Stationary", "Stepping"]
    assert lines[0].split() == ["Baseline", "0.477", "(.00)", "0.200", "(.01)*"]
    assert lines[1].split() == ["paper", "0.477", "(.00)", "0.477", "(.00)"]
    assert lines[2].split() == ["B-ICB", "0.121", "(.03)*", "-"]
    assert lines[3].split() == ["paper", "0.121", "(.03)*", "0.161", "(.02)*"]
    assert "over 5 seeds" in text


def test_markdown_and_latex_have_the_papers_number_beside_ours_and_the_best_in_bold(rows):
    assert "| B-ICB | **0.121 (.03)** / **0.121 (.03)** | - / **0.161 (.02)** |" in as_markdown(TABLE, rows, "")
    latex = as_latex(TABLE, rows, "Preset 100% exact.")
    assert r"B-ICB & \textbf{0.121~(.03)} / \textbf{0.121~(.03)} & -- / \textbf{0.161~(.02)} \\" in latex
    assert r"100\% exact" in latex


def test_a_single_run_has_no_spread(rows):
    text = as_text(TABLE, rows.assign(sd=np.nan, seeds=1), "")
    assert text.splitlines()[2].split() == ["Baseline", "0.477", "0.200*"]
    assert "One seed" in text


def test_csv_has_a_line_per_cell(rows):
    table = pd.read_csv(io.StringIO(as_csv(TABLE, rows)))
    assert len(table) == 4
    assert set(table["table"]) == {3}
    assert np.isnan(table["mean"][3])


def test_a_best_algorithm_that_differs_from_the_papers_and_missing_runs_are_reported(rows):
    assert disagreements(rows) == {"stepping": ("Baseline", "B-ICB")}
    text = as_text(TABLE, rows, "")
    assert "differs from the paper's for 1 of 2 agents. stepping: Baseline here, B-ICB there" in text
    assert "B-ICB on stepping (0)" in text


def test_every_format_names_runs_that_have_not_converged(rows):
    sentence = "2 of 5 runs have not converged (worst R-hat above 1.05): B-ICB on stationary (2)."
    for written in (as_text, as_markdown, as_latex):
        assert sentence in written(TABLE, rows, "")
        assert "All 5 runs with several chains have converged" in written(TABLE, rows.assign(not_converged=0), "")
        assert "no run has more than one chain" in written(TABLE, rows.assign(not_converged=0, chains=0), "")
    assert list(pd.read_csv(io.StringIO(as_csv(TABLE, rows)))["not_converged"]) == [0, 0, 2, 0]


def test_the_note_says_which_estimates_are_compared():
    assert "B-ICB by EM" in TABLES[3].note("paper")
    assert "posterior means (a point estimate for T-REX), scaled to unit L1 norm before" in TABLES[3].note("exact")
    assert "unit L1 norm at each time" in TABLES[2].note("exact")


def test_the_final_belief_is_a_second_row_of_the_same_runs_and_counts_as_b_icb(small):
    table = replace(TABLES[3], algorithms=("Baseline", "B-ICB"))

    class Runs:
        """In which the final belief has half the error of the reward parameter."""

        def scores(self, unit):
            rewards = {"Baseline": {"reward": 0.4}, "B-ICB": {"reward": 0.6, "final_belief": 0.3, "rhat": 1.0}}
            return rewards[unit.algorithm.label]

    assert {unit.algorithm.label for unit in table.units("exact", small)} == {"Baseline", "B-ICB"}
    rows = table_rows(table, "exact", small, Runs())
    assert rows.groupby("algorithm", sort=False)["mean"].mean().round(6).to_dict() == {
        "Baseline": 0.4,
        "B-ICB": 0.6,
        "B-ICB, final belief": 0.3,
    }
    # Every run is counted once, and B-ICB is the best in the paper too.
    assert rows["chains"].sum() == len(small.agents) * small.seeds
    assert disagreements(rows) == {}
    assert "final belief" not in " ".join(TABLES[3].labels("paper"))
