import json
import os
from pathlib import Path

import numpy as np
import pytest

import icb_pymc
from icb_pymc.assess.registry_checks import add, verify
from icb_pymc.cli import main
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import from_groups, group
from icb_pymc.results.registry import find_entry, open_trace, read_registry, registry_folder
from icb_pymc.results.traces import read_trace, write_trace

SMALL = Path(__file__).parents[1] / "helpers" / "traces" / "pymc_5.nc"
COMMANDS = ["icb fit nb_icb log.csv --seed 0 -o trace.nc", "icb share trace.nc -o shared.nc"]


@pytest.fixture(scope="module")
def converged(tmp_path_factory):
    """A trace whose draws are independent."""
    trace, rng = read_trace(SMALL), np.random.default_rng(0)
    posterior = group(trace, "posterior")[["belief"]].isel(draw=[0] * 400).assign_coords(draw=np.arange(400))
    posterior["belief"] = posterior["belief"].copy(data=rng.normal(size=posterior["belief"].shape))
    groups = {name: group(trace, name) for name in ("observed_data", "constant_data")} | {"posterior": posterior}
    path = tmp_path_factory.mktemp("made") / "trace.nc"
    write_trace(from_groups(groups, trace.attrs), path)
    return path


@pytest.fixture
def folder(converged, tmp_path):
    """A registry with one trace, called good."""
    folder = tmp_path / "traces"
    folder.mkdir()
    add(converged, "good", COMMANDS, folder)
    return folder


def read_json(folder):
    return json.loads((folder / "registry.json").read_text())


def write_json(folder, description):
    (folder / "registry.json").write_text(json.dumps(description))


def test_an_entry_describes_the_file_the_data_the_commands_and_the_checks(folder):
    entry = find_entry("good", folder)
    path = folder / "good.nc"
    assert (entry.file, entry.bytes) == ("good.nc", path.stat().st_size)
    assert (entry.model, entry.data) == ("nb_icb", "12 decisions among up to 3 candidates with 2 features")
    assert entry.made_by == COMMANDS
    assert entry.versions["pymc"].startswith("5.")
    assert (entry.checks["chains"], entry.checks["draws"], entry.checks["passed"]) == (2, 400, True)
    assert entry.checks["worst_rhat"] < 1.01
    assert entry.checks["worst_bulk_ess"] > 400
    assert verify(entry, folder) == []


def test_a_trace_is_opened_by_its_name(folder, monkeypatch):
    assert group(open_trace("good", folder), "posterior").sizes["draw"] == 400
    monkeypatch.chdir(folder.parent)
    assert icb_pymc.open_trace("good").attrs["model"] == "nb_icb"
    with pytest.raises(InputError, match="has no 'bad'; it has good"):
        open_trace("bad", folder)


def test_draws_that_do_not_pass_are_registered_as_such_and_not_verified(folder):
    entry = add(SMALL, "short", COMMANDS, folder)
    assert entry.checks["passed"] is False
    assert verify(entry, folder) == ["its draws do not pass the checks"]


def test_draws_that_are_not_numbers_do_not_pass(converged, folder, tmp_path):
    trace = read_trace(converged)
    group(trace, "posterior")["belief"].values[0, 0, 0, 0] = np.nan
    write_trace(trace, tmp_path / "nan.nc")
    with pytest.raises(InputError, match="'belief' holds draws that are missing"):
        add(tmp_path / "nan.nc", "nan", COMMANDS, folder)


def test_a_changed_file_is_detected_before_it_is_opened(folder):
    path = folder / "good.nc"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    (problem,) = verify(find_entry("good", folder), folder)
    assert "has another checksum (sha256) than the registry" in problem
    with pytest.raises(InputError, match="another checksum"):
        open_trace("good", folder)
    path.write_bytes(content[:-1])
    assert "bytes, not the" in verify(find_entry("good", folder), folder)[0]
    path.unlink()
    assert "is missing" in verify(find_entry("good", folder), folder)[0]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("model", "b_icb", "the registry says model 'b_icb', the file 'nb_icb'"),
        ("data", "others", "the registry says data 'others'"),
        ("checks", {"passed": True}, "the registry says worst_rhat None"),
    ],
)
def test_an_entry_that_contradicts_its_file_is_reported(name, value, sentence, folder):
    description = read_json(folder)
    description["traces"][0][name] = value
    write_json(folder, description)
    assert any(sentence in problem for problem in verify(find_entry("good", folder), folder))


def test_a_registered_file_that_is_not_a_trace_is_reported(folder, dated_decisions):
    import hashlib

    dated_decisions.to_netcdf(folder / "good.nc", engine="h5netcdf")
    content = (folder / "good.nc").read_bytes()
    description = read_json(folder)
    description["traces"][0] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    write_json(folder, description)
    assert "no group 'posterior'" in verify(find_entry("good", folder), folder)[0]


@pytest.mark.parametrize("file", ["../outside.nc", "/etc/passwd", "sub/../../outside.nc", "..\\outside.nc", "link.nc"])
def test_a_path_that_leaves_the_folder_is_refused(file, folder, converged):
    os.symlink(converged, folder / "link.nc")
    description = read_json(folder)
    description["traces"][0]["file"] = file
    write_json(folder, description)
    with pytest.raises(InputError, match="is outside the folder"):
        open_trace("good", folder)
    assert main(["traces", "list", "--folder", str(folder)]) == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "it has no list of 'traces'"),
        ('{"schema_version": 1}', "it has no list of 'traces'"),
        ('{"traces": []}', "its schema_version is None"),
        ('{"schema_version": 2, "traces": []}', "schema_version 2, newer than this icb_pymc"),
        ('{"schema_version": 1, "traces": [7]}', "trace number 1 is not a JSON object"),
        ('{"schema_version": 1, "traces": [{"name": "a"}]}', "trace number 1: 'file' is missing"),
        ("\udcff", "is not JSON"),
    ],
)
def test_a_malformed_registry_is_refused(text, sentence, folder):
    (folder / "registry.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=sentence):
        read_registry(folder)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": "No/name"}, "name 'No/name' is not valid"),
        ({"sha256": "00"}, "sha256 '00' is not valid"),
        ({"bytes": "many"}, "'bytes' is missing or of the wrong type"),
        ({"made_by": [1]}, "'made_by' must be a list of commands"),
        ({"data": "\x1b[2J"}, "characters that cannot be printed"),
    ],
)
def test_an_invalid_entry_is_refused(change, sentence, folder):
    description = read_json(folder)
    description["traces"][0] |= change
    write_json(folder, description)
    with pytest.raises(InputError, match=sentence):
        read_registry(folder)


def test_the_same_name_twice_is_refused(folder, converged):
    description = read_json(folder)
    description["traces"] *= 2
    write_json(folder, description)
    with pytest.raises(InputError, match="'good' is listed twice"):
        read_registry(folder)


@pytest.mark.parametrize(
    ("name", "commands", "sentence"),
    [
        ("good", COMMANDS, "already has a 'good'"),
        ("../good", COMMANDS, "use lower-case letters"),
        ("other", [], "say how the trace can be reproduced"),
    ],
)
def test_a_refused_trace_leaves_the_registry_unchanged(name, commands, sentence, folder, converged):
    before = (folder / "registry.json").read_bytes()
    with pytest.raises(InputError, match=sentence):
        add(converged, name, commands, folder)
    assert (folder / "registry.json").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["good.nc", "registry.json"]


def test_a_missing_registry_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(icb_pymc, "__file__", str(tmp_path / "site" / "icb_pymc" / "__init__.py"))
    with pytest.raises(InputError, match=r"there is no traces/registry\.json in the current folder"):
        registry_folder()
    with pytest.raises(InputError, match="no registry to add to"):
        registry_folder(to_change=True)
    with pytest.raises(InputError, match="there is no such folder"):
        registry_folder(tmp_path / "absent")


def test_an_installed_package_offers_its_own_traces_to_read_and_not_to_change(tmp_path, monkeypatch):
    installed = tmp_path / "site" / "icb_pymc" / "traces"
    installed.mkdir(parents=True)
    (installed / "registry.json").write_text('{"schema_version": 1, "traces": []}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(icb_pymc, "__file__", str(installed.parent / "__init__.py"))
    assert registry_folder() == installed
    with pytest.raises(InputError, match="no registry to add to"):
        registry_folder(to_change=True)
    mine = tmp_path / "traces"
    mine.mkdir()
    (mine / "registry.json").write_text('{"schema_version": 1, "traces": []}', encoding="utf-8")
    assert registry_folder().resolve() == registry_folder(to_change=True).resolve() == mine.resolve()


def test_the_command_line_adds_lists_shows_verifies_and_opens(converged, tmp_path, capsys):
    where = ["--folder", str(tmp_path)]
    arguments = ["traces", "add", str(converged), "--name", "mine", "--made-by", COMMANDS[0], "--made-by", COMMANDS[1]]
    assert main([*arguments, *where]) == 0
    assert main([*arguments, *where]) == 2
    assert main([*arguments, "--replace", *where]) == 0
    capsys.readouterr()
    assert main(["traces", "list", *where]) == 0
    assert "mine" in capsys.readouterr().out
    assert main(["traces", "show", "mine", *where]) == 0
    assert [line.strip() for line in capsys.readouterr().out.splitlines()[-2:]] == COMMANDS
    assert main(["traces", "verify", *where]) == 0
    assert "1 of 1 traces are as registered" in capsys.readouterr().out
    assert main(["traces", "open", "mine", *where]) == 0
    said = capsys.readouterr().out
    assert "Group: /posterior" in said
    assert f"icb_pymc.open_trace('mine', folder='{tmp_path}')" in said
    (tmp_path / "mine.nc").write_bytes(b"other")
    assert main(["traces", "verify", "mine", *where]) == 1
    assert main(["traces", "open", "mine", *where]) == 2
