"""Text of strangers is shown as text: no command for a terminal, no mathematics for a picture, no markup for a page."""

import itertools
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from corpus.strangers import VERBS, attribute, written
from corpus.tables import GOOD

from icb_pymc.cli import main

HOSTILE = {
    "unbalanced mathematics": r"$\frac{$",
    "a formula": r"$\alpha^2$",
    "three dollars": "$$$",
    "an escape sequence": "\x1b[2J\x1b[31mage",
    "a title of the terminal": "\x1b]0;owned\x07",
    "a C1 sequence": "\x9b31mage",
    "a bell": "age\x07",
    "text that turns round": "age\u202eega",
    "marks without width": "a\u200bg\u200de",
    "markup": "<script>alert(1)</script>",
    "an attribute": '" onload="alert(1)',
    "a link of Markdown": "[age](javascript:alert(1))",
    "a template": "{{ 7 * 7 }}{% raw %}",
    "a format": "{0.__class__} %s %(a)s",
    "a line break": "age\nicb: converged",
    "a carriage return": "age\rconverged",
    "many letters": "x" * 500,
    "letters that stack": "a" + "\u0301" * 50,
    "from right to left": "שלום",
    "a formula of a spreadsheet": "=cmd|' /C calc'!A0",
}
COMMANDS = {name: command for name, command in VERBS.items() if name not in ("share", "plot importance")}
COMMANDS |= {
    "plot weights as SVG": ["plot", "weights", "trace.nc", "-o", "picture.svg"],
    "plot choices": ["plot", "choices", "trace.nc", "-o", "picture.svg"],
    "report as Markdown": ["report", "trace.nc", "--quick", "-o", "report.md"],
}


def renamed(text):
    """A trace whose first feature and model are called so."""

    def spoil(groups):
        attribute("model", text)(groups)
        for name in ("posterior", "constant_data"):
            groups[name] = groups[name].assign_coords(feature=[text, "bilirubin"])

    return spoil


@pytest.mark.parametrize(
    ("text", "command"),
    [
        pytest.param(text, command, id=f"{name}, for {verb}")
        for (name, text), (verb, command) in itertools.chain(
            zip(HOSTILE.items(), itertools.cycle(COMMANDS.items()), strict=False),
            zip(HOSTILE.items(), itertools.islice(itertools.cycle(COMMANDS.items()), 5, None), strict=False),
        )
    ],
)
def test_names_in_a_trace_are_shown_as_text(text, command, tmp_path, monkeypatch, capsys):
    written(renamed(text))(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(command) in (0, 1)
    printed = capsys.readouterr()
    for line in (printed.out + printed.err).replace("\t", " ").splitlines():
        assert line.isprintable(), ascii(line)
    if "--json" in command:
        json.loads(printed.out)
    for page in [*Path().glob("report.*"), *Path().glob("picture.svg")]:
        content = page.read_text(encoding="utf-8")
        assert "<script>" not in content
        assert page.suffix == ".md" or 'onload="alert' not in content
        assert "\x1b" not in content
        if page.suffix == ".svg":
            ElementTree.fromstring(content)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_names_in_a_table_are_shown_as_text(text, tmp_path, capsys):
    quoted = '"' + text.replace('"', '""') + '"'
    (tmp_path / "log.csv").write_text(GOOD.replace("inr", quoted, 1), encoding="utf-8", newline="")
    assert main(["show", str(tmp_path / "log.csv")]) == 0
    printed = capsys.readouterr()
    for line in (printed.out + printed.err).splitlines():
        assert line.isprintable(), ascii(line)


def test_output_in_ascii_shows_other_letters_as_numbers(tmp_path):
    import os
    import subprocess
    import sys

    (tmp_path / "log.csv").write_text(GOOD.replace("inr", "größe", 1), encoding="utf-8")
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    code = "import sys; from icb_pymc.cli import main; sys.exit(main(['show', 'log.csv']))"
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert rb"gr\xf6\xdfe" in ran.stdout


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="needs a shell")
@pytest.mark.parametrize(("redirected", "code"), [(">&-", 0), ("| head -c 1", 0), ("> /dev/full", 2)])
def test_an_output_that_is_closed_or_full_needs_no_traceback(redirected, code, tmp_path):
    import subprocess
    import sys

    program = "import sys; from icb_pymc.cli import main; sys.exit(main(['traces', 'list']))"
    command = f"'{sys.executable}' -c \"{program}\" {redirected}"
    ran = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == code
    assert "Traceback" not in ran.stderr
    assert "Exception" not in ran.stderr
