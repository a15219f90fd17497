"""Compiled functions follow changes of what they call."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from icb_pymc.kernels.compilation_cache import DIGEST_FILE, clear_if_stale

CALLED = "import numba\n\n@numba.njit(cache=True)\ndef called(x):\n    return x + {}\n"
CALLER = "import numba\nfrom called import called\n\n@numba.njit(cache=True)\ndef caller(x):\n    return called(x)\n"


def test_what_is_compiled_is_forgotten_when_a_file_changes_and_only_then(tmp_path):
    file, compiled = tmp_path / "one.py", tmp_path / "__pycache__" / "one.called-1.py311.nbi"
    file.write_text("x = 1\n")
    kept = compiled.parent
    clear_if_stale(tmp_path, kept)
    compiled.write_bytes(b"")
    clear_if_stale(tmp_path, kept)
    assert compiled.exists()
    file.write_text("x = 2\n")
    clear_if_stale(tmp_path, kept)
    assert not compiled.exists()


def test_a_compiled_function_follows_a_change_in_another_file_that_it_calls(tmp_path):
    """Without `clear_if_stale` numba answers 2 again: it looks at the file of the caller alone."""
    (tmp_path / "caller.py").write_text(CALLER)
    script = """
        import sys, pathlib
        from icb_pymc.kernels.compilation_cache import clear_if_stale
        clear_if_stale(pathlib.Path.cwd(), pathlib.Path("__pycache__"))
        sys.path.insert(0, "")
        from caller import caller
        print(caller(1))
    """
    answers = []
    for number in (1, 2):
        (tmp_path / "called.py").write_text(CALLED.format(number))
        command = [sys.executable, "-c", textwrap.dedent(script)]
        answers.append(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip())
    assert answers == ["2", "3"]


def test_the_kernels_are_kept_where_numba_is_told_to_keep_them(tmp_path):
    script = "from icb_pymc.kernels.compilation_cache import cache_folder; print(cache_folder())"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", script]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()
    assert tmp_path in Path(told).parents
    assert (Path(told) / DIGEST_FILE).is_file()
