"""Every kind of bad input is answered by one sentence and exit code 2, without a traceback, and nothing is written."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from corpus import options, own_models, strangers, surroundings, tables

from icb_pymc.cli import main

CORPUS = {
    "tables": tables.KINDS,
    "netCDF": strangers.KINDS,
    "options": options.KINDS,
    "models": own_models.KINDS,
    "surroundings": surroundings.KINDS,
}


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder in a folder, and what the files hold."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, id=f"{room}-{kind}") for room, kinds in CORPUS.items() for kind in kinds]
)
def test_is_refused_in_one_sentence(kind, tmp_path, monkeypatch, capsys):
    kind.make(tmp_path)
    before = contents(tmp_path)
    monkeypatch.chdir(tmp_path)
    with nullcontext() if kind.around is None else kind.around(tmp_path):
        try:
            code = main(kind.arguments)
        except SystemExit as stop:
            # The parser of the options.
            code = stop.code
    answer = capsys.readouterr().err
    lines = [line for line in answer.splitlines() if line and not line.startswith(("warning: ", "usage: ", "  "))]
    assert code == 2, answer
    assert len(lines) == 1, answer
    assert lines[0].startswith("icb")
    assert lines[0].isprintable()
    assert len(lines[0]) < 1000
    assert [word for word in kind.words if word not in lines[0]] == [], lines[0]
    assert contents(tmp_path) == before
