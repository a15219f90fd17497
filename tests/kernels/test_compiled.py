import os
import subprocess
import sys
import textwrap

from icb_pymc.kernels.compiled import forget_stale

CALLED = "import numba\n\n@numba.njit(cache=True)\ndef called(x):\n    return x + {}\n"
CALLER = "import numba\nfrom called import called\n\n@numba.njit(cache=True)\ndef caller(x):\n    return called(x)\n"


def test_files_are_dated_anew_when_one_of_them_changes_and_only_then(tmp_path):
    files = [tmp_path / name for name in ("one.py", "two.py")]
    for file in files:
        file.write_text("x = 1\n")
    forget_stale(tmp_path)
    for file in files:
        os.utime(file, (1e9, 1e9))
    forget_stale(tmp_path)
    assert all(file.stat().st_mtime == 1e9 for file in files)
    files[0].write_text("x = 2\n")
    forget_stale(tmp_path)
    assert all(file.stat().st_mtime > 1e9 for file in files)


def test_a_compiled_function_follows_a_change_in_another_file_that_it_calls(tmp_path):
    """Without `forget_stale` numba answers 2 again: it looks at the file of the caller alone."""
    (tmp_path / "caller.py").write_text(CALLER)
    script = """
        import sys, pathlib
        from icb_pymc.kernels.compiled import forget_stale
        forget_stale(pathlib.Path.cwd())
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
