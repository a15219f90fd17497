"""The pages: links lead somewhere, and the reference has every public name."""

import re
from pathlib import Path

import pytest
from helpers.public_names import PUBLIC

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)]
REFERENCE = sorted((ROOT / "docs" / "reference" / "api").glob("*.md"))


def prose(page):
    """The text of a page without its code."""
    text = re.sub(r"^( *)(```+|~~~+).*?^\1\2", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page):
    """The anchors of a page's headings, as GitHub and our pages form them, and those that are given."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.M)
    slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings]
    return {*slugs, *re.findall(r"^\((.*)\)=$", page.read_text(encoding="utf-8"), flags=re.M)}


def links(page):
    for target in re.findall(r"\]\(([^)\s]*)\)", prose(page)):
        if not re.match(r"[a-z]+:", target):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_to_files_and_headings(page):
    for target in links(page):
        path, _, anchor = target.partition("#")
        # Pages that Sphinx writes exist once it has run, and it checks the links to them.
        if "/generated/" in path:
            continue
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name}: {target}"
        # Sections of the command line's page are made from the parser, and Sphinx checks the links to them.
        if anchor and file.suffix == ".md" and file.name != "cli.md":
            assert anchor in anchors(file), f"{page.name}: {target}"


def names_listed(page):
    """Names in the autosummary tables of a page, in full."""
    module = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        elif re.fullmatch(r"   [A-Za-z]\w*", line):
            yield f"{module}.{line.strip()}"


def test_the_reference_has_every_public_name_once_and_no_other():
    listed = [name for page in REFERENCE for name in names_listed(page)]
    assert sorted(listed) == sorted(PUBLIC)
