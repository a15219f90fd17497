"""Where `pm.sample` records draws: in memory, as by default, but with variables that numpy computes."""

import numpy as np
import pymc as pm
from pymc.backends.ndarray import NDArray

from icb_pymc.declare.graph import Point
from icb_pymc.declare.numpy_functions import numpy_function


class RecordedDraws(NDArray):
    """PyMC's record of a chain in memory, which needs no compiled function for the variables that are recorded.

    Parameters
    ----------
    model : pm.Model
    names : list of str
        Of the variables to record.
    """

    def __init__(self, model: pm.Model, names: list[str]) -> None:
        variables = model.replace_rvs_by_values([rv for rv in model.unobserved_RVs if rv.name in names])
        evaluate = numpy_function(model.value_vars, variables)
        # Any values tell what is to be recorded; those of an initial point may take a compiler to find.
        shapes = model.eval_rv_shapes()
        values = evaluate(*(np.ones(shapes[value.name], value.dtype) for value in model.value_vars))
        first = {variable.name: value for variable, value in zip(variables, values, strict=True)}
        self._inputs = [value.name for value in model.value_vars]
        super().__init__(
            model=model,
            vars=variables,
            fn=evaluate,
            var_shapes={name: value.shape for name, value in first.items()},
            var_dtypes={name: value.dtype for name, value in first.items()},
        )

    def at(self, point: Point) -> dict[str, np.ndarray]:
        """The variables at a point, rounded as they are when they are recorded."""
        values = self.fn(*(point[name] for name in self._inputs))
        return dict(zip(self.varnames, values, strict=True))

    def __copy__(self) -> NDArray:
        """An empty record of another chain: PyMC copies the one that it is given for each of them."""
        shapes = {"var_shapes": self.var_shapes, "var_dtypes": self.var_dtypes}
        return NDArray(model=self.model, vars=self.vars, fn=self.fn, **shapes)
