"""What the pages share: forms by the name of the file, the templates, and a style that nothing can be added to."""

import base64
import hashlib
from pathlib import Path
from typing import Any

from icb_pymc.errors import InputError

FORMS = {".html": "html", ".md": "markdown", ".json": "json"}


def form_of(path: Path) -> str:
    """The form that the suffix of a path asks for."""
    if path.suffix not in FORMS:
        *first, last = FORMS
        raise InputError(f"{path}: the output must end in {', '.join(first)} or {last}.")
    return FORMS[path.suffix]


def environment(autoescape: bool) -> Any:
    """The templates; `autoescape` for HTML."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("icb_pymc.reports"),
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def locked_style() -> tuple[Any, str]:
    """The style, and the content security policy of a page that may load this style and nothing else."""
    from markupsafe import Markup

    style = environment(autoescape=True).get_template("style.css").render()
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode()
    # The style is ours, and contains nothing from the trace.
    return Markup(style), f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
