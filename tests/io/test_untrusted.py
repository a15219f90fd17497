"""Malicious or damaged files, each built here: all are refused in one sentence before their arrays are read."""

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

from icb_pymc.data.decision_files import read_decisions, write_decisions
from icb_pymc.data.decisions import from_arrays
from icb_pymc.errors import InputError
from icb_pymc.io import untrusted
from icb_pymc.io.untrusted import check_netcdf
from icb_pymc.results.inference_data import from_groups, group
from icb_pymc.results.traces import read_trace, write_trace

GOOD = Path(__file__).parents[1] / "helpers" / "traces" / "pymc_5.nc"


@pytest.fixture
def path(tmp_path):
    """A good trace, to be spoiled."""
    return Path(shutil.copy(GOOD, tmp_path / "trace.nc"))


def secret(path):
    """A private file of the user, which an untrusted file must not be able to read."""
    aside = path.parent / "secret.h5"
    with h5py.File(aside, "w") as file:
        file["numbers"] = np.arange(24.0)
    return aside


def sparse(file):
    file.create_dataset("posterior/huge", (10**12,), "f8", chunks=(1000,), compression="gzip", fillvalue=1.0)


def sparse_and_overflowing(file):
    file.create_dataset("posterior/huge", (2**32, 2**32), "f8", chunks=(1000, 1))


def never_written(file):
    file.create_dataset("posterior/huge", (10**12,), "f8")


def huge_chunk(file):
    small = file.create_dataset("posterior/huge", (2,), "f8", maxshape=(None,), chunks=(2**28,))
    assert small.id.get_storage_size() == 0


def huge_dimension(file):
    file.create_dataset("posterior/iteration", (10**13,), "f4").make_scale(
        "This is a netCDF dimension but not a netCDF variable.  10000000000000"
    )


def compressed_twice(file):
    """A megabyte that unpacks to a gigabyte is possible with one deflate, far more with two."""
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk((2**22,))
    made.set_deflate(9)
    made.set_deflate(9)
    space = h5py.h5s.create_simple((2**22,))
    variable = h5py.h5d.create(file["posterior"].id, b"bomb", h5py.h5t.IEEE_F64LE, space, made)
    h5py.Dataset(variable)[...] = np.zeros(2**22)


def compound(file):
    file["posterior/pair"] = np.zeros(3, [("a", "f8"), ("b", "i4")])


def lists(file):
    file.create_dataset("posterior/lists", (3,), h5py.vlen_dtype(np.float64))


def references(file):
    file["posterior"].create_dataset("reference", data=file["posterior"].ref, dtype=h5py.ref_dtype)


def opaque(file):
    file["posterior/pickle"] = np.void(b"cos\nsystem\n(S'true'\ntR.")


def enumeration(file):
    file.create_dataset("posterior/kind", (3,), h5py.enum_dtype({"yes": 1, "no": 0}))


def named_type(file):
    file["posterior/type"] = np.dtype("f8")


def odd_attribute(file):
    file["posterior"].attrs["pair"] = np.zeros(1, [("a", "f8")])


def many_strings(file):
    file["posterior"].attrs["words"] = ["word"] * 101


def soft_link(file):
    file["posterior/again"] = h5py.SoftLink("/posterior/belief")


def external_link(file):
    file["sample_stats/other"] = h5py.ExternalLink(str(secret(Path(file.filename))), "/numbers")


def external_group(file):
    del file["sample_stats"]
    file["sample_stats"] = h5py.ExternalLink("/etc/passwd", "/")


def external_storage(file):
    aside = secret(Path(file.filename))
    file.create_dataset("posterior/stolen", (8,), "u1", external=[(str(aside), 0, 8)])


def virtual(file):
    layout = h5py.VirtualLayout((24,), "f8")
    layout[:] = h5py.VirtualSource(str(secret(Path(file.filename))), "numbers", (24,))
    file.create_virtual_dataset("posterior/stolen", layout)


def two_names(file):
    file["posterior/again"] = file["posterior/belief"]


def loop(file):
    file["posterior/root"] = file["/"]


def nested(file):
    file.create_group("posterior/deep")


def odd_filter(file):
    file.create_dataset("posterior/odd", (10,), "f8", chunks=(10,), compression="lzf")


def crowd(file):
    for i in range(2_001):
        file["posterior"].create_group(f"g{i}")


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (sparse, r"'/posterior/huge' declares 7450\.6 GiB, but the file stores almost none of it"),
        (sparse_and_overflowing, "'/posterior/huge' declares .* GiB, but the file stores almost none of it"),
        (never_written, "'/posterior/huge' declares .* stores almost none of it"),
        (huge_chunk, r"'/posterior/huge' declares 2\.0 GiB, but the file stores almost none of it"),
        (huge_dimension, "'/posterior/iteration' declares .* stores almost none of it"),
        (compressed_twice, "'/posterior/bomb' declares 32 MiB, but the file stores almost none of it"),
        (compound, "'/posterior/pair' holds neither numbers nor text"),
        (lists, "'/posterior/lists' holds neither numbers nor text"),
        (references, "'/posterior/reference' holds neither numbers nor text"),
        (opaque, "'/posterior/pickle' holds neither numbers nor text"),
        (enumeration, "'/posterior/kind' holds neither numbers nor text"),
        (named_type, "'/posterior/type' declares a data type"),
        (odd_attribute, "'/posterior@pair' holds neither numbers nor text"),
        (many_strings, "'/posterior@words' holds 101 strings"),
        (soft_link, "'/posterior/again' is a link to another object or file"),
        (external_link, "'/sample_stats/other' is a link to another object or file"),
        (external_group, "'/sample_stats' is a link to another object or file"),
        (external_storage, "'/posterior/stolen' keeps its numbers in another file"),
        (virtual, "'/posterior/stolen' keeps its numbers in another file"),
        (two_names, "is stored under two names"),
        (loop, "'/posterior/root' is a group inside a group"),
        (nested, "'/posterior/deep' is a group inside a group"),
        (odd_filter, "'/posterior/odd' uses a compression other than zlib"),
        (crowd, "'/posterior' holds 20.. objects"),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_files_with_contents_that_no_trace_needs_are_refused(spoil, sentence, path):
    with h5py.File(path, "a") as file:
        spoil(file)
    with pytest.raises(InputError, match=sentence):
        read_trace(path)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.999])
def test_a_truncated_file_is_refused(share, path):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError, match="is damaged or truncated; download or write it again"):
        read_trace(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"text", "is not a netCDF4 file"),
        (b"CDF\x01" + bytes(100), "is not a netCDF4 file"),
        (b"\x80\x04cos\nsystem\n(S'true'\ntR.", "is not a netCDF4 file"),
    ],
)
def test_files_that_are_not_netcdf4_are_refused(content, sentence, path):
    path.write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        read_trace(path)


def test_damaged_bytes_are_refused_or_harmless(path):
    content, rng = path.read_bytes(), np.random.default_rng(0)
    refused = 0
    for _ in range(40):
        damaged = np.frombuffer(content, np.uint8).copy()
        positions = rng.integers(len(damaged), size=200)
        damaged[positions] = rng.integers(256, size=200)
        path.write_bytes(damaged.tobytes())
        try:
            read_trace(path)
        except InputError:
            refused += 1
    assert refused > 20


def test_a_file_that_does_not_fit_into_memory_is_refused(path, monkeypatch):
    monkeypatch.setattr(untrusted, "available_memory", lambda: 10_000)
    with pytest.raises(InputError, match=r"it needs at least .* of memory, but 10 KiB are free"):
        check_netcdf(path)


def test_strings_that_share_their_bytes_are_each_counted(tmp_path):
    """A thousand strings, each of which points to the one long string in the file."""
    path = tmp_path / "words.nc"
    with h5py.File(path, "w") as file:
        words = file.create_dataset("words", (1000,), h5py.string_dtype())
        words[0] = "word" * 5000
        words[1:] = "x"
    pointer = read_pointer(path)
    path.write_bytes(repeat_pointer(path.read_bytes(), pointer))
    with pytest.raises(InputError, match="the strings of '/words' are longer than the file"):
        check_netcdf(path)


def read_pointer(path):
    """The offset of the pointer to the first string, and its sixteen bytes."""
    with h5py.File(path) as file:
        start = file["words"].id.get_offset()
    return start, path.read_bytes()[start : start + 16]


def repeat_pointer(content, pointer):
    start, first = pointer
    return content[:start] + first * 1000 + content[start + 16_000 :]


def test_a_good_file_passes(path):
    check_netcdf(path)


def test_untrusted_decisions_are_checked_like_traces(dated_decisions, tmp_path):
    path = tmp_path / "decisions.nc"
    dated_decisions.to_netcdf(path, engine="h5netcdf")
    with h5py.File(path, "a") as file:
        file["more"] = h5py.ExternalLink("/etc/passwd", "/")
    with pytest.raises(InputError, match="'/more' is a link to another object or file"):
        read_decisions(path)


LETTERS = list("abcXYZ 09_-.:/$%éß漢字🐀'\"")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("scarce", [False, True])
@pytest.mark.filterwarnings("ignore::icb_pymc.errors.InputWarning")
def test_whatever_is_written_is_read_again_whatever_its_shapes_and_names(seed, scarce, tmp_path, monkeypatch):
    rng = np.random.default_rng(seed)
    steps, actions, features, draws = (int(rng.integers(1, most)) for most in (60, 70, 9, 5))

    def names(*shape):
        flat = ["".join(rng.choice(LETTERS, rng.integers(1, 40))) for _ in range(int(np.prod(shape)))]
        return np.array([f"{name}{i}" for i, name in enumerate(flat)]).reshape(shape)

    optional = {"agent": rng.choice(names(3), steps), "missed": rng.random(steps) < 0.3}
    optional["time"] = np.sort(rng.integers(0, 10**4, steps))
    if seed % 2:
        optional["time"] = optional["time"].astype("datetime64[D]").astype("datetime64[ns]")
    given = {name: value for name, value in optional.items() if rng.random() < 0.7}
    decisions = from_arrays(
        rng.normal(size=(steps, actions, features)), np.zeros(steps, int), features=list(names(features)), **given
    )
    decisions["candidate"] = (("time", "action"), names(steps, actions))
    decisions = decisions.assign_coords(decision=("time", names(steps)))
    write_decisions(decisions, tmp_path / "log.nc")
    belief = xr.DataArray(
        rng.normal(size=(2, draws, steps, features)),
        dims=("chain", "draw", "time", "feature"),
        coords={"time": decisions["time"].values, "feature": decisions["feature"].values},
    )
    groups = {
        "posterior": xr.Dataset({"belief": belief}),
        "observed_data": decisions[["chosen"]],
        "constant_data": decisions.drop_vars("chosen"),
    }
    write_trace(from_groups(groups, {"model": "nb_icb", "hyperparameters": "{}"}), tmp_path / "trace.nc")
    if scarce:
        # Hardly more memory than the arrays need, as after a long fit on a full machine.
        needed = 40 * (decisions.nbytes + belief.nbytes)
        monkeypatch.setattr(untrusted, "available_memory", lambda: needed)
        monkeypatch.setattr(untrusted, "ASSUMED_MEMORY", 1)
    read, trace = read_decisions(tmp_path / "log.nc"), read_trace(tmp_path / "trace.nc")
    inside = group(trace, "constant_data")
    np.testing.assert_array_equal(read["candidate"], decisions["candidate"])
    np.testing.assert_array_equal(inside["candidate"], decisions["candidate"])
    np.testing.assert_array_equal(inside["feature"], decisions["feature"])
    np.testing.assert_array_equal(group(trace, "posterior")["belief"], belief)


@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 27), (2, 0), (2, 3, 40)])
def test_strings_are_measured_in_parts_that_cover_them_and_are_never_large(shape):
    array, most = np.zeros(shape, int), 16
    for part in untrusted._parts(shape, most):
        assert np.size(array[part]) <= most
        array[part] += 1
    assert (array == 1).all()
