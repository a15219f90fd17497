"""Whether a graph is affine is read from its operations."""

import pytensor.tensor as pt
import pytest

from icb_pymc.declare.affine import depends_on, is_affine

X, Y, V = pt.matrix("x"), pt.matrix("y"), pt.vector("v")
AFFINE = {
    "sums": X + 2 * Y - V,
    "products with others": pt.exp(Y) * X / (1 + Y**2),
    "indices": X[1:][::-1][pt.cast(Y[0], "int64")],
    "matrix products": Y @ X @ Y,
    "reductions": X.sum(axis=0) + pt.cumsum(X, axis=0)[0] + X.mean(),
    "joins": pt.concatenate([X, pt.stack([V, Y[0]])]).reshape((-1,)),
    "a choice by others": pt.where(Y > 0, X, 3 * X),
    "solutions": pt.linalg.solve(Y, X),
    "assignments": pt.set_subtensor(X[0], V),
    "shapes": pt.ones_like(X) * pt.exp(Y) + X.shape[0],
}
NONLINEAR = {
    "a clip": pt.clip(X, -5, 5),
    "a clip at a large value": pt.clip(X, -1e9, 1e9),
    "squares": X**2,
    "a product of two": X * V,
    "a choice by itself": pt.where(X > 3, 0.0, X),
    "a quotient": Y / X,
    "an index": Y[pt.cast(V, "int64")],
    "the matrix of a solution": pt.linalg.solve(X, Y),
    "rounding": pt.cast(X, "int64"),
    "cumulative products": pt.cumprod(X, axis=0),
    "a maximum": X.max(axis=0),
}


@pytest.mark.parametrize("name", AFFINE)
def test_affine_graphs_are_recognised(name):
    assert is_affine([AFFINE[name]], [X, V])


@pytest.mark.parametrize("name", NONLINEAR)
def test_nonlinear_graphs_are_not_affine(name):
    assert not is_affine([NONLINEAR[name]], [X, V])
    assert is_affine([NONLINEAR[name]], [pt.scalar()])


def test_using_a_shape_is_not_a_dependence():
    assert not depends_on([pt.zeros_like(X) + Y, X.shape[0]], [X])
    assert depends_on([Y, pt.sqrt(X)], [X])


def test_the_inner_graph_of_an_op_is_examined():
    from pytensor.compile.builders import OpFromGraph

    a, b = pt.dvectors("a", "b")
    assert is_affine([OpFromGraph([a, b], [a + b**2])(V, Y[0])], [V])
    assert not is_affine([OpFromGraph([a, b], [a + b**2])(Y[0], V)], [V])
