"""The folder in which a fit keeps its chains: what counts after a crash, and what is refused."""

import json

import numpy as np
import pytest

from icb_pymc import InputError
from icb_pymc.results import checkpoint as checkpoint_module
from icb_pymc.results.checkpoint import ChainState, Checkpoint, remove_checkpoint

DESCRIPTION = {"model": "nb_icb", "seed": 3}


def block(begin, iterations, tuning=2):
    """Statistics and draws of iterations; the draw of iteration i is i."""
    numbers = range(begin, begin + iterations)
    stats = [[{"accept": number / 10}] for number in numbers]
    return stats, {"belief": [np.full(2, float(number)) for number in numbers if number >= tuning]}


def keep(checkpoint, begin, iterations, chain=0):
    stats, values = block(begin, iterations)
    state = ChainState(begin + iterations, {"belief": np.zeros(2)}, {"steps": begin + iterations})
    checkpoint.keep(chain, begin, stats, values, state)


def test_chains_come_back_block_by_block_without_tuning(tmp_path):
    checkpoint = Checkpoint(tmp_path / "kept", DESCRIPTION)
    with checkpoint.open():
        for begin, iterations in ((0, 1), (1, 3), (4, 2)):
            keep(checkpoint, begin, iterations)
    again = Checkpoint(tmp_path / "kept", DESCRIPTION)
    with again.open():
        assert again.state(0).iterations == 6
        assert again.state(1) is None
        assert again.state(0).sampler == {"steps": 6}
        assert [stats[0]["accept"] for stats in again.stats(0)] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
        assert again.draws(0)["belief"].tolist() == [[2.0, 2.0], [3.0, 3.0], [4.0, 4.0], [5.0, 5.0]]
        assert again.draws(1) == {}


def test_a_block_without_its_state_does_not_count_and_is_written_again(tmp_path):
    checkpoint = Checkpoint(tmp_path / "kept", DESCRIPTION)
    with checkpoint.open():
        keep(checkpoint, 0, 3)
        state = (tmp_path / "kept" / "chain-0-state.npz").read_bytes()
        keep(checkpoint, 3, 5)
        # As after a kill between the block and the state.
        (tmp_path / "kept" / "chain-0-state.npz").write_bytes(state)
        (tmp_path / "kept" / ".chain-0-state-unfinished-half.npz").write_bytes(b"PK")
    with checkpoint.open():
        assert not list((tmp_path / "kept").glob(".chain*"))
        assert len(checkpoint.stats(0)) == 3
        keep(checkpoint, 3, 1)
        assert checkpoint.draws(0)["belief"][:, 0].tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"seed": 4}, r"other seed \(3, not 4\)"),
        ({"model": "b_icb"}, r"other model \(\"nb_icb\", not \"b_icb\"\)"),
        ({"data": "x" * 50}, "other data: give another folder, or the same command"),
    ],
)
def test_the_checkpoint_of_another_fit_is_refused_in_a_sentence(tmp_path, changed, words):
    with Checkpoint(tmp_path, DESCRIPTION).open():
        pass
    with pytest.raises(InputError, match=words), Checkpoint(tmp_path, DESCRIPTION | changed).open():
        pass


def test_two_fits_do_not_use_one_folder_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_module, "SECONDS_TO_END", 0.1)
    first, second = Checkpoint(tmp_path, DESCRIPTION), Checkpoint(tmp_path, DESCRIPTION)
    with first.open(), pytest.raises(InputError, match="in use by another fit"), second.open():
        pass


@pytest.mark.parametrize("name", ["a file", "a full folder", "a damaged description", "a damaged chain"])
def test_what_is_no_checkpoint_is_refused_and_left_alone(tmp_path, name):
    folder = tmp_path / "kept"
    if name == "a file":
        folder.write_text("mine")
    else:
        folder.mkdir()
        (folder / ("checkpoint.json" if "description" in name else "mine.txt")).write_text(
            "[" if "desc" in name else ""
        )
    if name == "a damaged chain":
        (folder / "mine.txt").unlink()
        with Checkpoint(folder, DESCRIPTION).open():
            (folder / "chain-0-state.npz").write_bytes(b"PK")
            with pytest.raises(InputError, match=r"chain-0-state.npz is missing or damaged. Remove the folder"):
                Checkpoint(folder, DESCRIPTION).state(0)
        return
    words = {"a file": "is a file", "a full folder": "not empty and not a checkpoint"}.get(name, "is damaged: remove")
    before = sorted(tmp_path.rglob("[!.]*"))
    with pytest.raises(InputError, match=words), Checkpoint(folder, DESCRIPTION).open():
        pass
    assert sorted(tmp_path.rglob("[!.]*")) == before


def test_the_seed_of_a_checkpoint_is_remembered(tmp_path):
    assert Checkpoint(tmp_path, {}).recorded_seed() is None
    with Checkpoint(tmp_path, DESCRIPTION).open():
        assert json.loads((tmp_path / "checkpoint.json").read_text()) == DESCRIPTION
    assert Checkpoint(tmp_path, {}).recorded_seed() == 3


def test_what_is_removed_is_the_checkpoint_and_nothing_else(tmp_path):
    for name in ("one", "two"):
        checkpoint = Checkpoint(tmp_path / name, DESCRIPTION)
        with checkpoint.open():
            keep(checkpoint, 0, 3)
    (tmp_path / "two" / "notes.txt").write_text("mine")
    for name in ("one", "two"):
        remove_checkpoint(tmp_path / name)
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == ["two", "two/notes.txt"]
