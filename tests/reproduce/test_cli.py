from dataclasses import replace

import pandas as pd
import pytest
from helpers.model_texts import PLAIN, write

from icb_pymc.catalogue.model_files import digest_of
from icb_pymc.cli import main
from icb_pymc.io import workers
from icb_pymc.reproduce import paper_tables, work
from icb_pymc.reproduce import scale as scales


@pytest.fixture
def small_and_here(monkeypatch, small, in_this_process):
    """`icb reproduce --quick` with tiny runs, one agent and no processes."""
    monkeypatch.setattr(scales, "QUICK", replace(small, agents=("stepping",)))
    monkeypatch.setattr(workers, "processes", lambda jobs: in_this_process)


def test_a_table_is_printed_and_written_and_a_rerun_reports_that_all_runs_exist(tmp_path, small_and_here, capsys):
    arguments = ["reproduce", "--table", "3", "--quick", "--seeds", "1", "-o", str(tmp_path / "out")]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "5 runs, of which 0 already exist" in printed
    assert "Table 3." in printed
    assert "too small to compare" in printed
    written = [tmp_path / "out" / f"table-3-exact-quick.{suffix}" for suffix in ("md", "csv", "tex")]
    texts = [path.read_text() for path in written]
    assert "**" in texts[0]
    assert "B-ICB,stepping" in texts[1]
    assert r"\toprule" in texts[2]
    assert main(arguments) == 0
    assert "5 runs, of which 5 already exist" in capsys.readouterr().out
    assert [path.read_text() for path in written] == texts


def test_figures_are_drawn(tmp_path, small_and_here, capsys):
    figures = ["radar", "over-time", "sudden-change"]
    asked = [word for name in figures for word in ("--figure", name)]
    assert main(["reproduce", *asked, "--quick", "-o", str(tmp_path)]) == 0
    assert "2 runs" in capsys.readouterr().out
    assert all((tmp_path / f"figure-{name}-exact-quick.png").stat().st_size > 10_000 for name in figures)


def test_a_file_of_the_user_replaces_the_synthetic_history(tmp_path, small_and_here, capsys):
    raw, out = tmp_path / "liver.csv", tmp_path / "out"
    assert main(["synthesise", "history", "--patients", "1500", "--seed", "5", "-o", str(raw)]) == 0
    assert main(["reproduce", "--figure", "radar", "--quick", "--data", str(raw), "-o", str(out)]) == 0
    (unit,) = (out / "units-quick").iterdir()
    assert unit.name.startswith("history-")
    assert (out / "figure-radar-exact-quick.png").exists()


def test_a_failing_run_is_reported_with_its_error_and_exit_code_1(
    tmp_path, small_and_here, little_table, monkeypatch, capsys
):
    fit = work.fit

    def fails_for_t_rex(model, *arguments, **options):
        if model == "t_rex":
            raise ZeroDivisionError("no ground to stand on")
        return fit(model, *arguments, **options)

    monkeypatch.setattr(work, "fit", fails_for_t_rex)
    monkeypatch.setitem(paper_tables.TABLES, 3, little_table)
    assert main(["reproduce", "--table", "3", "--quick", "--seeds", "1", "-o", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert "stepping_t-rex_exact_seed-0 failed: ZeroDivisionError: no ground to stand on" in printed.err
    assert "1 of 2 runs failed" in printed.err
    assert "T-REX on stepping (0)" in printed.out


def test_a_file_called_like_a_built_in_algorithm_has_runs_and_a_row_of_its_own(
    tmp_path, small_and_here, monkeypatch, capsys
):
    monkeypatch.setitem(paper_tables.TABLES, 2, replace(paper_tables.TABLES[2], algorithms=("NB-ICB",)))
    path = write(tmp_path, "nb_icb", PLAIN.replace("def plain", "def nb_icb"))
    out = tmp_path / "out"
    arguments = ["reproduce", "--table", "2", "--quick", "--seeds", "1", "--model", path, "-o", str(out)]
    assert main(arguments) == 0
    names = sorted(file.name for file in (out / "units-quick").iterdir())
    assert names == [
        f"stepping_nb-icb-{digest_of(path)[:6]}_exact_seed-0.nc",
        "stepping_nb-icb_exact_seed-0.nc",
    ]
    rows = pd.read_csv(out / "table-2-exact-quick.csv").set_index("algorithm")
    assert list(rows.index) == ["NB-ICB", f"nb-icb ({digest_of(path)[:6]})"]
    assert rows["mean"].nunique() == 2
    capsys.readouterr()
    assert main(arguments) == 0
    assert "2 runs, of which 2 already exist" in capsys.readouterr().out
    assert main([*arguments, "--model", path]) == 2
    assert "--model: the same model is given twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--table", "2", "--data", "liver.csv"], "--data is for the figures"),
        (["--figure", "radar", "--data", "nowhere.csv"], "there is no such file"),
        (["--table", "2", "--jobs", "2", "--scheduler", "tcp://x:1"], "not both"),
        (["--table", "2", "-o", "{file}"], "is a file"),
        (["--table", "2", "-o", "{file}/out"], "cannot be created"),
    ],
)
def test_bad_input_is_reported_in_one_sentence(arguments, sentence, tmp_path, capsys):
    file = tmp_path / "file"
    file.touch()
    assert main(["reproduce", *(word.format(file=file) for word in arguments)]) == 2
    printed = capsys.readouterr().err
    assert sentence in printed
    assert len(printed.splitlines()) == 1


def test_an_unknown_table_is_refused(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "--table", "7"])
    assert stop.value.code == 2


def test_a_missing_extra_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    assert main(["reproduce", "--table", "2", "--scheduler", "tcp://127.0.0.1:1", "-o", str(tmp_path)]) == 2
    assert "icb-pymc[cluster]" in capsys.readouterr().err
