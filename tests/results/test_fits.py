"""The index of a folder of fits comes from strangers, too."""

import json

import pytest
from helpers.subjects import stored_fits

from icb_pymc import InputError, read_fits
from icb_pymc.results.fits import Fits, file_name, open_for_writing

GOOD = {"version": 1, "settings": {}, "subjects": [{"name": "Ada", "decisions": "0"}], "failures": {}}


@pytest.mark.parametrize(
    ("index", "sentence"),
    [
        ("{", "is damaged"),
        ("[" * 100_000, "is damaged"),
        ("[]", "it has no version"),
        (GOOD | {"version": 2}, "pip install -U"),
        (GOOD | {"subjects": [{"name": 3, "decisions": "0"}]}, "not as they are written"),
        (GOOD | {"subjects": GOOD["subjects"] * 2}, "not as they are written"),
        (GOOD | {"failures": {"Ada": 3}}, "not as they are written"),
        (GOOD | {"settings": 3}, "not as they are written"),
    ],
)
def test_an_index_that_is_not_as_written_is_refused(tmp_path, index, sentence):
    (tmp_path / "fits.json").write_text(index if isinstance(index, str) else json.dumps(index))
    with pytest.raises(InputError, match=sentence):
        read_fits(tmp_path)


def test_no_name_of_a_subject_leads_out_of_the_folder(tmp_path):
    for name in ("../../etc/passwd", "/etc/passwd", "..", "", "a\0b", "CON", "é\u202e", "x" * 300):
        path = Fits(tmp_path, {}, {name: "0"}).path(name)
        assert path.parent == tmp_path
        assert path.name.startswith("0001_")
        assert len(path.name) < 60
    assert file_name(0, "Å") != file_name(1, "Å")


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(InputError, match="not a folder of fits"):
        read_fits(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"), open_for_writing(Fits(tmp_path / "file", {}, {"Ada": "0"})):
        pass


def test_a_trace_of_another_subject_or_store_does_not_count_as_done(tmp_path):
    fits = stored_fits(tmp_path / "store")
    assert all(fits.is_done(name) for name in fits)
    fits.path("Ada").write_bytes(fits.path("Cy").read_bytes())
    assert not fits.is_done("Ada")
    assert not Fits(fits.folder, fits.settings | {"seed": 1}, fits.subjects).is_done("Cy")
