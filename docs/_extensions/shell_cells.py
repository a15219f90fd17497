"""Cells of an executed page that are not Python, shown as a reader would type them.

A cell that begins with `%%bash` is shown as shell commands without that line, and one that begins with
`%%writefile NAME` as a file with its name above it. Both are executed as they are.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

LANGUAGES = {"py": "python", "md": "markdown"}


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
    app.add_transform(ShellCells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
