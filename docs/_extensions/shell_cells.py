"""Cells of an executed page that are not Python, shown as a reader would type them.

A cell that begins with `%%bash` is shown as shell commands without that line, and one that begins with
`%%writefile NAME` as a file with its name above it.

`%%bash` itself is replaced: IPython's hands on the output in pieces, which are put together with lines torn apart; it
goes on after a command that failed; and kernels ask programs for colours and moving progress bars.
"""

import os
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

LANGUAGES = {"py": "python", "md": "markdown"}
STARTUP = """
import os
import subprocess
import sys

from IPython.core.magic import register_cell_magic


@register_cell_magic
def bash(line, cell):
    environment = {name: os.environ[name] for name in os.environ if name not in ("FORCE_COLOR", "CLICOLOR_FORCE")}
    done = subprocess.run(["bash", "-e", "-c", cell], env=environment, capture_output=True, text=True)
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    done.check_returncode()
"""


class ShellCells(SphinxTransform):
    """Replace magic lines by what they mean: a language, or the name of a file."""

    default_priority = 400

    def apply(self, **kwargs: object) -> None:
        for block in list(self.document.findall(nodes.literal_block)):
            magic, _, text = block.astext().partition("\n")
            word, _, name = magic.partition(" ")
            if word == "%%bash":
                block.replace_self(nodes.literal_block(text, text, language="bash"))
            elif word == "%%writefile":
                file = nodes.literal_block(text, text, language=LANGUAGES.get(name.rpartition(".")[2], "text"))
                block.replace_self([nodes.paragraph("", name, classes=["file-name"]), file])


def setup(app: Sphinx) -> dict[str, bool]:
    profiles = Path(app.srcdir) / "_build" / "ipython"
    startup = profiles / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    (startup / "shell_cells.py").write_text(STARTUP, encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(profiles)
    app.add_transform(ShellCells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
