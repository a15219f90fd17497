"""A headless Chromium for tests of pages; where there is none, these tests are skipped with a word."""

import os
import shutil
from pathlib import Path

import pytest

# Nothing of the browser itself may use the network.
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def launched(playwright, folder):
    """A browser context with an empty profile, without access to anything but files."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no Chromium here (Debian: apt-get install chromium)")
    return playwright.chromium.launch_persistent_context(
        str(folder), executable_path=path, args=OPTIONS, viewport={"width": 1100, "height": 900}, offline=True
    )


def axe_source():
    """The script of axe-core, from the npm package in the folder that AXE_CORE names or in node_modules."""
    folders = [os.environ.get("AXE_CORE", ""), "node_modules/axe-core"]
    for folder in folders:
        script = Path(folder) / "axe.min.js"
        if folder and script.is_file():
            return script.read_text(encoding="utf-8")
    return pytest.skip("axe-core is not here (npm install axe-core, or AXE_CORE=folder)")
