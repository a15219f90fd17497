"""The pages: `python -m sphinx -W --keep-going docs docs/_build/html` after `pip install -e ".[docs]"`."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

import inventories  # noqa: E402
import own_warnings  # noqa: E402

import icb_pymc  # noqa: E402

# Its pages have the name that users import it by.
sys.modules["icb_pymc.metrics"] = icb_pymc.metrics

project = "icb_pymc"
author = "The icb_pymc authors"
project_copyright = "The icb_pymc authors, MIT licence"
release = version = icb_pymc.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "command_line",
    "mathml",
    "shell_cells",
]
exclude_patterns = ["_build"]

# Pages are MyST Markdown; those with `file_format: mystnb` are executed, each in an empty folder of its own, and run
# again only when their code changes.
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / ".jupyter_cache")
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 900
nb_merge_streams = True
# `icb` in a page is the one of this environment; cores are for chains.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
os.environ.setdefault("OMP_NUM_THREADS", "1")
own_warnings.prepare(HERE / "_build" / "ipython")

templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
# In docstrings `name` is an object if there is one of this name, else code.
default_role = "py:obj"

# Inventories of other projects come from the network; where there is none, small ones that lie here take their place.
intersphinx_timeout = 5
intersphinx_mapping = {
    "pymc": ("https://www.pymc.io/projects/docs/en/stable/", (None, inventories.pack("pymc"))),
    "arviz": ("https://python.arviz.org/en/stable/", (None, inventories.pack("arviz"))),
    "xarray": ("https://docs.xarray.dev/en/stable/", (None, inventories.pack("xarray"))),
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "icb_pymc"
html_static_path = ["_static"]
html_css_files = ["icb.css"]
html_show_sourcelink = False
# Pages of no section have nothing to list at their left.
html_sidebars = {"index": [], "get_started": []}
html_theme_options = {
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
