import pytest
import xarray as xr

from icb_pymc.errors import InputError
from icb_pymc.inference_data import group, group_names
from icb_pymc.traces import read_trace, write_trace


def test_a_trace_comes_back_as_it_was_written(trace, tmp_path):
    path = tmp_path / "trace.nc"
    write_trace(trace, path)
    copy = read_trace(path)
    assert type(copy) is type(trace)
    assert sorted(group_names(copy)) == sorted(group_names(trace))
    assert copy.attrs == trace.attrs
    for name in group_names(trace):
        xr.testing.assert_equal(group(copy, name), group(trace, name))
    assert group(copy, "constant_data")["available"].dtype == bool


def test_plain_xarray_reads_the_groups(trace, tmp_path):
    path = tmp_path / "trace.nc"
    write_trace(trace, path)
    with xr.open_dataset(path, group="posterior") as posterior:
        assert posterior["belief"].dims == ("chain", "draw", "time", "feature")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [("trace.nc", "text", "cannot be read as netCDF"), (None, None, "no such file")],
)
def test_what_is_not_a_trace_is_refused(name, content, sentence, tmp_path):
    path = tmp_path / (name or "absent.nc")
    if content:
        path.write_text(content)
    with pytest.raises(InputError, match=sentence):
        read_trace(path)


def test_decisions_are_not_a_trace(dated_decisions, tmp_path):
    path = tmp_path / "decisions.nc"
    dated_decisions.to_netcdf(path, engine="h5netcdf")
    with pytest.raises(InputError, match="no 'belief' and no 'rho_env'"):
        read_trace(path)


def test_a_trace_ends_in_nc(trace, tmp_path):
    with pytest.raises(InputError, match=r"end in \.nc"):
        write_trace(trace, tmp_path / "trace.txt")
