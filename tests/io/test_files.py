"""Files are replaced whole or not at all."""

import pytest

from icb_pymc.errors import InputError
from icb_pymc.io.files import replacing


def test_a_failure_leaves_the_old_file_unchanged_and_no_temporary_file(tmp_path):
    path = tmp_path / "result.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_success_replaces_the_file(tmp_path):
    path = tmp_path / "result.txt"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match="does not exist"), replacing(tmp_path / "no" / "result.txt"):
        pass
