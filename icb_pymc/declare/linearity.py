"""What kind of learner was declared, recognised from its graph and by evaluating its functions on numbers."""

from collections.abc import Callable, Sequence

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pymc.pytensorf import compile as compile_graph
from pytensor.graph.replace import graph_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.basic import ScipyRandomVariable
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.affine import depends_on, is_affine
from icb_pymc.declare.beliefs import Belief

ActOn = Callable[[Belief, TensorVariable], TensorVariable]
Bonus = Callable[[Belief, TensorVariable], TensorVariable]
Update = Callable[[Belief, TensorVariable, TensorVariable], Belief]

SCALES = (0.1, 1.0, 10.0)


def learns_by_prediction_errors(initial: Belief, update: Update, bonus: Bonus | None = None) -> bool:
    """Whether mu' = mu + gain (r - <mu, x>), and neither the gain nor the rest of the belief depends on mu or r.

    A bonus must not depend on mu either. Whether an update is linear at all is read from its graph: evaluating it would
    miss a clip at a large value. Whether it has this form is then decided by its values, for two updates in a row,
    since the first belief may be a special case.
    """
    if initial._fields[0] != "mean":
        return False
    actions = len(pm.modelcontext(None).coords["action"])
    mean, context, candidates = pt.vector(), pt.matrix(), pt.matrix()
    rewards = pt.vector()
    one = pt.as_tensor(1.0)
    belief, blank = initial._replace(mean=mean), initial._replace(mean=pt.zeros_like(mean))
    pairs = []
    for step in range(2):
        x, reward = context[step], rewards[step]
        later, blank_later = update(belief, x, reward), update(blank, x, one)
        if not is_affine([later.mean], [mean, rewards]) or depends_on(later[1:], [mean, rewards]):
            return False
        expected = belief.mean + blank_later.mean * (reward - (belief.mean * x).sum())
        pairs += [(later.mean, expected), *zip(later[1:], blank_later[1:], strict=True)]
        if bonus is not None:
            if depends_on([bonus(belief, candidates)], [mean, rewards]):
                return False
            pairs.append((bonus(belief, candidates), bonus(blank, candidates)))
        belief, blank = later, blank_later._replace(mean=pt.zeros_like(mean))
    features = len(pm.modelcontext(None).coords["feature"])
    shapes = [(features,), (2, features), (2,), (actions, features)]
    return _are_equal(pairs, [mean, context, rewards, candidates], shapes)


def acts_on_mean(initial: Belief, act_on: ActOn) -> bool:
    """Whether the agent acts on the mean of its belief."""
    return _acts_on(initial, act_on, lambda belief, noise: belief.mean)


def draws_from_belief(initial: Belief, act_on: ActOn) -> bool:
    """Whether the agent acts on a draw from a Gaussian belief."""
    has_root = initial._fields[:2] == ("mean", "root")
    return has_root and _acts_on(
        initial, act_on, lambda belief, noise: belief.mean + (belief.root * noise).sum(axis=-1)
    )


def _acts_on(initial: Belief, act_on: ActOn, expected: ActOn) -> bool:
    mean, noise = pt.vector(), pt.vector()
    belief = initial._replace(mean=mean)
    if not is_affine([act_on(belief, noise)], [mean, noise]):
        return False
    features = len(pm.modelcontext(None).coords["feature"])
    return _are_equal([(act_on(belief, noise), expected(belief, noise))], [mean, noise], [(features,)] * 2)


# Without a compiler, which would take longer than these few evaluations.
@pytensor.config.change_flags(cxx="")
def _are_equal(
    pairs: Sequence[tuple[TensorVariable, TensorVariable]],
    inputs: list[TensorVariable],
    shapes: Sequence[tuple[int, ...]],
) -> bool:
    """Whether the graphs of each pair have equal values, for inputs of several scales and draws of the unknowns."""
    graphs = [side for pair in pairs for side in pair]
    graphs, unknowns = _with_values(graphs)
    inputs = [*inputs, *unknowns]
    shapes = [*shapes, *(value.type.shape for value in unknowns)]
    evaluate = compile_graph(inputs, graphs, mode="FAST_COMPILE", random_seed=0, on_unused_input="ignore")
    rng = np.random.default_rng(0)
    for scale in SCALES:
        for _ in range(2):
            try:
                values = evaluate(*(scale * rng.standard_normal(shape) for shape in shapes))
            except NotImplementedError:
                # The prior of an unknown cannot be drawn from.
                return False
            tolerance = 1e-8 * (1 + max(np.abs(array).max(initial=0.0) for array in values))
            if any(
                not np.abs(one - two).max(initial=0.0) <= tolerance
                for one, two in zip(values[::2], values[1::2], strict=True)
            ):
                return False
    return True


def _with_values(graphs: list[TensorVariable]) -> tuple[list[TensorVariable], list[TensorVariable]]:
    """Graphs of the unconstrained values of unknowns, and these values, where drawing them would load SciPy's module.

    That takes longer than all the rest.
    """
    model, inside = pm.modelcontext(None), set(ancestors(graphs))
    slow = [
        rv
        for rv in model.free_RVs
        if rv in inside and isinstance(rv.owner.op, ScipyRandomVariable) and rv.type.ndim == 0
    ]
    values = []
    for rv in slow:
        value, transform = model.rvs_to_values[rv], model.rvs_to_transforms[rv]
        own = value.type()
        values.append(own)
        made = own if transform is None else transform.backward(own, *rv.owner.inputs)
        graphs = graph_replace(graphs, {rv: made}, strict=False)
    return graphs, values
