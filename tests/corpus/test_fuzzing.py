"""Whatever becomes of a file, reading it ends in a result or in a sentence: no other exception, no crash, no hang.

Mutations are drawn by hypothesis in the same order each time. What they found is tried first.
"""

import io
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest
from corpus import strangers
from corpus.mutations import (
    byte_changes,
    table_changes,
    tree_changes,
    with_changed_bytes,
    with_changed_cells,
    with_changed_contents,
)
from corpus.tables import GOOD
from hypothesis import HealthCheck, Phase, example, given, settings

from icb_pymc import from_arrays
from icb_pymc.io.netcdf import netcdf_bytes

pytestmark = pytest.mark.slow
WORKER = Path(__file__).parents[1] / "helpers" / "reading_worker.py"
# A file of a few kilobytes is read in milliseconds.
SECONDS = 60
BUDGET = settings(
    max_examples=200,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
# A coordinate that is shorter than its dimension, which xarray opens without a word.
KEPT = [[("shape", 0.25, 0.0, 0, None), ("shape", 0.25, 0.0, 0, None)]]
TABLES = {
    "long": GOOD,
    "long, with agents and rewards": (
        "decision,time,agent,session,candidate,chosen,reward,age,size\n"
        "1,2020-01-01,ann,1,a,1,0.5,50,1\n1,2020-01-01,ann,1,b,0,,60,2\n"
        "2,2020-01-02,bob,1,a,0,,51,2\n2,2020-01-02,bob,1,b,1,1.0,40,1\n"
        "3,2020-01-05,ann,2,a,1,0.1,45,1\n3,2020-01-05,ann,2,b,0,,42,3\n"
    ),
    "wide": "choice,price_A,price_B,time\nA,1.0,2.0,1\nB,3.0,1.5,2\nA,2.5,2.0,3\n",
    "trials": "trial,choice,coherence,correct\n1,left,-0.5,1\n2,right,0.25,1\n3,left,0.125,0\n4,right,0.5,1\n",
}


class Reader:
    """A process that reads files; one that died or hangs is replaced by the next."""

    def __init__(self, what: str, folder: Path, suffix: str) -> None:
        self._what, self._path, self._log = what, folder / f"file{suffix}", folder / "worker.log"
        self._process: subprocess.Popen[str] | None = None

    def outcome(self, content: bytes) -> str:
        """How reading this content ended."""
        self._path.write_bytes(content)
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(f"{self._path}\n")
        self._process.stdin.flush()
        return self._answer()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> None:
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(WORKER), self._what],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | {"PYTHONFAULTHANDLER": "1"},
            )
        self._answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, args=(self._process, self._answers), daemon=True).start()
        assert self._answer() == "ready"

    @staticmethod
    def _listen(process: "subprocess.Popen[str]", answers: "queue.Queue[str]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            answers.put(line.rstrip("\n"))
        answers.put(f"the process ended with code {process.wait()}")

    def _answer(self) -> str:
        try:
            answer = self._answers.get(timeout=SECONDS)
        except queue.Empty:
            answer = f"no answer after {SECONDS} seconds"
        if answer.startswith(("the process ended", "no answer")):
            self.stop()
            answer += f": {self._log.read_text('utf-8')[:2000]}"
        return answer


@pytest.fixture
def reader(tmp_path):
    """Starts a reader of decisions or traces, whose process ends with the test."""
    started = []

    def start(what, suffix):
        started.append(Reader(what, tmp_path, suffix))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def decisions():
    return from_arrays(
        [[[1.0, 2.0], [0.0, 3.0], [0.5, 0.5]]] * 4,
        [0, 1, 1, 0],
        available=[[True, True, False]] * 4,
        time=pd.date_range("2020-01-01", periods=4),
        features=["age", "inr"],
        agent=["ann", "bob", "ann", "bob"],
    )


def parquet(text):
    buffer = io.BytesIO()
    pd.read_csv(io.StringIO(text)).to_parquet(buffer)
    return buffer.getvalue()


def holds(changes, change, content, reader, kept=()):
    """Read the unchanged content, then what each list of changes makes of it."""
    assert reader.outcome(content if isinstance(content, bytes) else content.encode()) == "read"

    @BUDGET
    @given(changes)
    def ends_in_a_result_or_a_sentence(drawn):
        assert reader.outcome(change(content, drawn)).startswith(("read", "refused: "))

    for found in kept:
        ends_in_a_result_or_a_sentence = example(found)(ends_in_a_result_or_a_sentence)
    ends_in_a_result_or_a_sentence()


@pytest.mark.parametrize("form", TABLES)
def test_changed_cells_of_a_csv_table(form, reader):
    holds(table_changes, with_changed_cells, TABLES[form], reader("decisions", ".csv"))


@pytest.mark.parametrize("form", ["long, with agents and rewards", "wide"])
def test_changed_bytes_of_a_csv_table(form, reader):
    holds(byte_changes, with_changed_bytes, TABLES[form].encode(), reader("decisions", ".csv"))


def test_changed_bytes_of_a_parquet_table(reader):
    holds(byte_changes, with_changed_bytes, parquet(GOOD), reader("decisions", ".parquet"))


@pytest.mark.parametrize("what", ["decisions", "trace"])
@pytest.mark.parametrize(
    ("changes", "change"), [(byte_changes, with_changed_bytes), (tree_changes, with_changed_contents)]
)
def test_changed_netcdf(what, changes, change, reader):
    content = netcdf_bytes({"/": decisions()}) if what == "decisions" else strangers.SMALL.read_bytes()
    kept = KEPT if what == "trace" and change is with_changed_contents else ()
    holds(changes, change, content, reader(what, ".nc"), kept)
