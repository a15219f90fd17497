import errno
import resource
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

from icb_pymc import plots
from icb_pymc.assess.diagnosis import diagnose
from icb_pymc.assess.metrics import relative_importance
from icb_pymc.data.decision_files import write_decisions
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import as_netcdf, from_groups, group, group_names
from icb_pymc.results.posterior import decisions_in
from icb_pymc.results.traces import read_trace, write_trace

# Written by `tests/helpers/traces/make_trace.py`, one under each PyMC line.
OF_EACH_LINE = [Path(__file__).parents[1] / "helpers" / "traces" / f"pymc_{line}.nc" for line in (5, 6)]


@pytest.fixture
def small():
    """The trace that PyMC 5 wrote, for the tests to modify."""
    return read_trace(OF_EACH_LINE[0])


def changed(trace, attrs=None, **groups):
    """A copy with other attributes and groups; a group that is None is left out."""
    whole = {name: group(trace, name) for name in group_names(trace)} | groups
    kept = {name: dataset for name, dataset in whole.items() if dataset is not None}
    return from_groups(kept, trace.attrs | (attrs or {}))


def test_a_trace_comes_back_as_it_was_written(trace, tmp_path):
    path = tmp_path / "trace.nc"
    write_trace(trace, path)
    copy = read_trace(path)
    assert type(copy) is type(trace)
    assert sorted(group_names(copy)) == sorted(group_names(trace))
    assert copy.attrs == trace.attrs | {"schema_version": 1}
    for name in group_names(trace):
        xr.testing.assert_equal(group(copy, name), group(trace, name))
    assert group(copy, "constant_data")["available"].dtype == bool


@pytest.mark.parametrize("path", OF_EACH_LINE, ids=lambda path: path.stem)
def test_a_trace_of_either_line_is_read_drawn_and_diagnosed_from_the_file_alone(path):
    trace = read_trace(path)
    importance = relative_importance(group(trace, "posterior")["belief"])
    np.testing.assert_allclose(importance.sum("feature"), 1.0)
    assert plots.importance_over_time(trace).axes
    assert set(diagnose(trace).blocks.index) == {"belief", "rho"}
    assert str(group(trace, "constant_data")["time"].values[-1])[:10] == "2001-11-27"


def test_both_lines_write_the_same_groups_variables_dims_and_types():
    described = []
    for path in OF_EACH_LINE:
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            described.append(
                {
                    f"{name}/{variable}": (values.dims, values.dtype)
                    for name, part in tree.children.items()
                    for variable, values in part.variables.items()
                }
            )
    assert described[0] == described[1]


@pytest.mark.parametrize("path", OF_EACH_LINE, ids=lambda path: path.stem)
def test_plain_xarray_and_arviz_read_a_trace_with_every_dimension_labelled(path):
    import arviz as az

    with xr.open_dataset(path, group="posterior") as posterior:
        assert posterior["belief"].dims == ("chain", "draw", "time", "feature")
        np.testing.assert_array_equal(
            az.from_netcdf(str(path))["posterior"]["belief"].values, posterior["belief"].values
        )
    with xr.open_datatree(path) as tree:
        for part in tree.children.values():
            assert set(part.dims) <= set(part.coords)
        assert tree["constant_data"]["available"].dtype == bool
        assert tree.attrs["schema_version"] == 1


def test_variables_are_compressed_and_all_types_are_numbers_or_text(trace, tmp_path):
    path = tmp_path / "trace.nc"
    write_trace(trace, path)
    kinds = set()
    with h5py.File(path) as file:
        assert file["posterior/belief"].compression == "gzip"
        file.visititems(lambda _, node: kinds.add(node.id.get_type().get_class()) if "shape" in dir(node) else None)
    assert kinds <= {h5py.h5t.INTEGER, h5py.h5t.FLOAT, h5py.h5t.STRING}


def test_attributes_without_a_netcdf_type_become_numbers_or_json(small, tmp_path):
    given = {"yes": True, "nothing": None, "table": {"a": [1, 2]}, "words": ["a", "b"], "numpy": np.bool_(False)}
    write_trace(changed(small, given), tmp_path / "trace.nc")
    attrs = read_trace(tmp_path / "trace.nc").attrs
    assert (attrs["yes"], attrs["numpy"], attrs["nothing"], attrs["table"]) == (1, 0, "null", '{"a": [1, 2]}')
    assert list(attrs["words"]) == ["a", "b"]


def test_python_objects_are_not_written(small, tmp_path):
    spoilt = group(small, "posterior").assign(odd=("feature", np.array([{}, None], dtype=object)))
    with pytest.raises(InputError, match="'posterior/odd' holds Python objects"):
        write_trace(changed(small, posterior=spoilt), tmp_path / "trace.nc")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda t: changed(t, {"schema_version": 2}), "has schema_version 2, and this icb_pymc reads up to 1: pip"),
        (lambda t: changed(t, {"schema_version": "new"}), "schema_version is 'new', not a whole number"),
        (lambda t: changed(t, posterior=None), "no group 'posterior'"),
        (lambda t: changed(t, constant_data=None), "no group 'constant_data'"),
        (lambda t: changed(t, observed_data=None), "no group 'observed_data'"),
        (lambda t: changed(t, posterior=group(t, "posterior")[["rho"]]), "no 'belief' and no 'rho_env'"),
        (
            lambda t: changed(t, posterior=group(t, "posterior").transpose("draw", ...)),
            r"'belief' holds float64 over \('draw', 'chain', 'time', 'feature'\)",
        ),
        (lambda t: changed(t, posterior=group(t, "posterior").astype(int)), "'belief' holds int64"),
        (lambda t: changed(t, posterior=group(t, "posterior").isel(draw=[])), "of sizes"),
        (lambda t: changed(t, observed_data=group(t, "observed_data") + 7), "decisions inside: chosen slot"),
        (
            lambda t: changed(t, posterior=group(t, "posterior").assign_coords(feature=["age", "other"])),
            "another 'feature' than its decisions",
        ),
        (lambda t: changed(t, posterior=group(t, "posterior").drop_vars("time")), "another 'time' than"),
        (lambda t: changed(t, {"hyperparameters": "__import__('os')"}), "'hyperparameters' is not a JSON object"),
        (lambda t: changed(t, {"versions": "[" * 100_000}), "'versions' is not a JSON object"),
    ],
)
def test_a_file_that_does_not_follow_the_schema_is_refused(spoil, sentence, small, tmp_path):
    path = tmp_path / "trace.nc"
    spoilt = spoil(small)
    path.write_bytes(as_netcdf(spoilt, spoilt.attrs))
    with pytest.raises(InputError, match=sentence):
        read_trace(path)


def test_a_trace_that_is_written_again_gets_the_schema_version_of_its_writer(small, tmp_path):
    path = tmp_path / "trace.nc"
    write_trace(changed(small, {"schema_version": 0}), path)
    assert read_trace(path).attrs["schema_version"] == 1


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"absent\.nc: there is no such file"):
        read_trace(tmp_path / "absent.nc")


def test_decisions_are_not_a_trace(dated_decisions, tmp_path):
    path = tmp_path / "decisions.nc"
    dated_decisions.to_netcdf(path, engine="h5netcdf")
    with pytest.raises(InputError, match="no group 'posterior'"):
        read_trace(path)


def test_a_trace_ends_in_nc(trace, tmp_path):
    with pytest.raises(InputError, match=r"end in \.nc"):
        write_trace(trace, tmp_path / "trace.txt")


@pytest.mark.parametrize(
    ("where", "failure", "raised"),
    [
        ("os.fsync", OSError(errno.ENOSPC, "No space left on device"), InputError),
        ("pathlib.Path.replace", OSError(errno.EDQUOT, "Disk quota exceeded"), InputError),
        ("pathlib.Path.replace", KeyboardInterrupt(), KeyboardInterrupt),
        ("h5py.Dataset.__setitem__", KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_a_full_disk_or_an_interrupt_leaves_the_old_file_unchanged(
    where, failure, raised, small, tmp_path, monkeypatch
):
    path = tmp_path / "trace.nc"
    write_trace(small, path)
    before = path.read_bytes()

    def fail(*arguments):
        raise failure

    monkeypatch.setattr(where, fail)
    with pytest.raises(raised):
        write_trace(small, path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("write", [write_trace, lambda trace, path: write_decisions(decisions_in(trace), path)])
def test_a_full_disk_is_reported_in_one_sentence(write, small, tmp_path):
    path = tmp_path / "trace.nc"
    write(small, path)
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.raises(InputError, match="cannot be written, and an existing file was not changed: File too large"):
            write(small, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
