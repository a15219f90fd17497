"""Graphs evaluated by numpy: the same values as PyTensor's own functions, without a compiler."""

import pickle

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pymc.pytensorf import compile as compile_graph

from icb_pymc.declare.numpy_functions import numpy_function

x, y, n = pt.matrix("x"), pt.scalar("y"), pt.lvector("n")
GIVEN = {x: np.array([[4.0, 1.0], [1.0, 3.0]]), y: np.array(0.5), n: np.array([1, 2])}
GRAPHS = {
    "arithmetic": pt.exp(x) * y - 1 / x,
    "where": pt.switch(x > y, x, -x),
    "whole numbers": pt.sqrt(n) + n // 2,
    "another type": pt.cast(x, "float32"),
    "rows": pt.set_subtensor(x[0], y * n)[:, ::-1],
    "linear algebra": pt.linalg.cholesky(x) @ n,
    "numbers that numpy has no function of": pt.sigmoid(y) + pt.gammaln(y),
    "arrays that numpy has no function of": pt.sigmoid(x),
    "a prior": pm.logp(pm.LogNormal.dist(pt.log(y), 0.4), x).sum(),
    "an input itself": x,
}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_values_are_those_of_pytensor(graph):
    expected = compile_graph(list(GIVEN), [graph, y], mode="FAST_COMPILE", on_unused_input="ignore")(*GIVEN.values())
    for one, other in zip(numpy_function(list(GIVEN), [graph, y])(*GIVEN.values()), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
        assert one.dtype == other.dtype


def test_no_compiler_is_asked(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("compiled")

    monkeypatch.setattr("pytensor.link.c.basic.CLinker.make_thunk", refuse)
    with pytensor.config.change_flags(mode="FAST_RUN"):
        evaluate = numpy_function([x, y], [GRAPHS["arithmetic"], GRAPHS["a prior"]])
    assert len(evaluate(GIVEN[x], 0.5)) == 2


def test_a_parameter_that_cannot_be_has_no_density():
    graph = pm.logp(pm.HalfNormal.dist(y), 1.0)
    assert numpy_function([y], [graph])(-1.0)[0] == -np.inf


def test_loops_are_left_to_pytensor():
    total = pytensor.scan(lambda row, before: before + row, sequences=[x], outputs_info=[pt.zeros(2)])[0][-1]
    np.testing.assert_allclose(numpy_function([x], [total])(GIVEN[x])[0], [5.0, 4.0])


def test_data_of_a_model_may_be_replaced():
    data = pytensor.shared(np.array([1.0, 2.0]))
    evaluate = numpy_function([y], [data * y])
    data.set_value(np.array([3.0]))
    np.testing.assert_allclose(evaluate(2.0)[0], [6.0])


def test_what_is_returned_does_not_share_memory_with_what_was_given():
    given = GIVEN[x].copy()
    evaluate = numpy_function([x], [x, x.T])
    for value in evaluate(given):
        value[:] = 0.0
    np.testing.assert_array_equal(given, GIVEN[x])


def test_a_function_passes_between_processes():
    evaluate = numpy_function([x, y], [GRAPHS["arithmetic"], x.T])
    copy = pickle.loads(pickle.dumps(evaluate))
    for one, other in zip(evaluate(GIVEN[x], 0.5), copy(GIVEN[x], 0.5), strict=True):
        np.testing.assert_array_equal(one, other)
