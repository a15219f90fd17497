"""Trees of numbers, text and arrays come back exactly as they were written; nothing else is written or run."""

import numpy as np
import pytest

from icb_pymc import InputError
from icb_pymc.io.array_trees import read_tree, write_tree

TREE = {
    "whole": 2**127 + 1,
    "reals": [0.1, float("nan"), -float("inf"), 5e-324],
    "words": ("é", None, True, False, ""),
    "scalars": [np.float64(1 / 3), np.float32(1 / 3), np.int64(-7), np.bool_(True), np.str_("x")],
    "arrays": {
        "a": np.arange(6.0).reshape(2, 3),
        "empty": np.empty((0, 2)),
        "number": np.array(3.5),
        "u": np.uint64([2**63]),
    },
    "nothing": {},
}


def same(one, other):
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert list(one) == list(other)
        assert all(same(one[name], other[name]) for name in one)
    elif isinstance(one, (list, tuple)):
        assert all(same(*pair) for pair in zip(one, other, strict=True))
    elif isinstance(one, (np.ndarray, np.generic)):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
    else:
        assert repr(one) == repr(other)
    return True


def test_everything_comes_back_to_the_last_bit_and_with_its_type(tmp_path):
    write_tree(tmp_path / "tree.npz", TREE)
    assert same(read_tree(tmp_path / "tree.npz"), TREE)
    assert [path.name for path in tmp_path.iterdir()] == ["tree.npz"]


@pytest.mark.parametrize("value", [object(), {1: 2}, np.array([object()]), {"a": [lambda: 0]}, {1, 2}])
def test_what_is_no_number_text_or_array_is_not_written(value, tmp_path):
    with pytest.raises(TypeError):
        write_tree(tmp_path / "tree.npz", value)
    assert not list(tmp_path.iterdir())


def test_objects_in_a_file_are_not_unpickled(tmp_path):
    np.savez(tmp_path / "tree.npz", structure=np.array('{"array": 0}'), **{"0": np.array([{"a": 1}], dtype=object)})
    with pytest.raises(InputError, match="missing or damaged"):
        read_tree(tmp_path / "tree.npz")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x93NUMPY", b"text"])
def test_a_damaged_or_missing_file_is_named(content, tmp_path):
    (tmp_path / "tree.npz").write_bytes(content)
    for name in ("tree.npz", "other.npz"):
        with pytest.raises(InputError, match=rf"{name} is missing or damaged"):
            read_tree(tmp_path / name)


def test_a_file_that_was_cut_short_is_damaged(tmp_path):
    path = tmp_path / "tree.npz"
    write_tree(path, {"a": np.arange(1000.0)})
    path.write_bytes(path.read_bytes()[:4000])
    with pytest.raises(InputError, match="missing or damaged"):
        read_tree(path)
