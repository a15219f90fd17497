"""Files are replaced whole or not at all."""

import pytest

from icb_pymc.errors import InputError
from icb_pymc.io.files import remove_abandoned, replacing


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


def test_what_a_killed_process_left_behind_is_removed_and_what_is_being_written_is_not(tmp_path):
    dead, of_another, mine = (
        tmp_path / name for name in (".a-unfinished-12345678.nc", ".b-unfinished-1.nc", ".a-notes.nc")
    )
    for path in (dead, of_another, mine):
        path.write_text("half")
    with replacing(tmp_path / "a.nc") as temporary:
        temporary.write_text("half")
        remove_abandoned(tmp_path, "a.nc")
        assert sorted(tmp_path.iterdir()) == sorted([temporary, of_another, mine])
        remove_abandoned(tmp_path)
        assert sorted(tmp_path.iterdir()) == sorted([temporary, mine])
    assert sorted(tmp_path.iterdir()) == [mine, tmp_path / "a.nc"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match="does not exist"), replacing(tmp_path / "no" / "result.txt"):
        pass
