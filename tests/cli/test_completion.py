"""`icb completion`: the scripts are run by the shells that they are for."""

import shutil
import subprocess
import sys

import pytest

from icb_pymc.catalogue.built_in import built_in
from icb_pymc.cli import VERBS, main

NAMES = {verb.__name__.rpartition(".")[2] for verb in VERBS}
MODELS = {entry.name for entry in built_in()}
# A shell's own way to ask for what it would complete after these words, one answer a line.
ASK = {
    "bash": "source {script}; COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); _icb; "
    'printf "%s\\n" "${{COMPREPLY[@]}}"',
    # The function with the commands that show candidates replaced by ones that print them.
    "zsh": "compdef() {{ }}; _describe() {{ print -l -- ${{(P)2}} }}; _files() {{ print FILES }}; "
    "compadd() {{ shift; print -l -- $@ }}; source {script}; words=({words}); CURRENT=$#words; _icb",
    "fish": 'source {script}; complete -C "{line}"',
}


@pytest.fixture(params=ASK)
def complete(request, tmp_path, capsys):
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    assert main(["completion", shell]) == 0
    script = tmp_path / "icb.completion"
    script.write_text(capsys.readouterr().out, encoding="utf-8")
    (tmp_path / "log.csv").touch()

    def answers(line):
        words = " ".join(f'"{word}"' for word in line.split(" "))
        code = ASK[shell].format(script=script, words=words, line=line)
        options = ["-f", "-c"] if shell == "zsh" else ["-c"]
        run = subprocess.run([shell, *options, code], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.stderr == ""
        found = [line.partition("\t" if shell == "fish" else ":")[0] for line in run.stdout.splitlines()]
        last = line.rpartition(" ")[2]
        # zsh selects from the candidates itself; fish offers the names of files beside them.
        return {answer for answer in found if answer.startswith(last) and answer not in ("", "FILES", "log.csv")} - {
            script.name
        }

    return answers


def test_verbs_options_values_and_models_are_completed(complete):
    assert complete("icb ") == NAMES
    assert complete("icb si") == {"simulate"}
    assert complete("icb fit --ker") == {"--kernel"}
    assert complete("icb fit --kernel ") == {"auto", "engine", "gibbs", "paper", "nuts", "nutpie"}
    assert complete("icb fit --kernel nut") == {"nuts", "nutpie"}
    assert complete("icb fit nb") == {"nb_icb"}
    for verb in ("models", "check", "simulate", "fit"):
        assert complete(f"icb {verb} ") == MODELS
    assert {"weights", "importance"} <= complete("icb plot ")
    assert complete("icb traces ") == {"list", "show", "verify", "add", "open"}
    assert {"--json", "--folder"} <= complete("icb traces list --")
    assert complete("icb traces verify --rep") == set()
    assert complete("icb traces add --rep") == {"--replace"}
    assert complete("icb fit --draws ") == set()


def test_the_script_is_made_without_heavy_imports():
    heavy = "{'pymc', 'pytensor', 'arviz', 'xarray', 'pandas', 'numpy', 'numba', 'matplotlib'}"
    code = f"import sys; from icb_pymc.cli import main; main(['completion', 'bash']); print({heavy} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "set()"
