"""The base class of the step methods."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pymc as pm
from pymc.step_methods import STEP_METHODS
from pymc.step_methods.compound import BlockedStep, Competence, StepMethodState
from pymc.util import get_random_generator, get_value_vars_from_user_vars
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.graph import context_model
from icb_pymc.errors import InputError

# What PyMC gives to every step that it makes.
PYMC_OPTIONS = ("blocked", "model", "initial_point", "compile_kwargs")


class SeededStep(BlockedStep):
    """A step with its own generator, seeded by the one that PyMC gives to each chain.

    Most of the time of a sweep is spent on normal variates, which SFC64 generates half again as fast as PCG64.
    """

    _state_class = StepMethodState
    # PyMC passes options to a step by the name of its class, and calls `pm.sample(target_accept=...)` an option of
    # "nuts". Under this name they reach a step that has taken all variables from NUTS, and can be used or refused.
    name = "nuts"
    own_name: ClassVar[str]
    nuts_options: ClassVar[tuple[str, ...]] = ()

    def __init__(self, vars: Any, model: pm.Model, rng: Any, options: Mapping[str, Any]) -> None:
        self.vars = get_value_vars_from_user_vars(vars, model)
        self.name = self.own_name
        self._refuse_unused(options, model)
        self.rng = get_random_generator(rng)

    def _refuse_unused(self, options: Mapping[str, Any], model: pm.Model) -> None:
        """Raise `InputError` for an option of NUTS that this step cannot use, unless NUTS samples other variables."""
        unused = [option for option in options if option not in (*PYMC_OPTIONS, *self.nuts_options)]
        if not unused:
            return
        ours = [step for step in STEP_METHODS if issubclass(step, SeededStep)]
        if all(any(step.can_sample(model, rv) for step in ours) for rv in model.free_RVs):
            taken = f" (which takes {', '.join(self.nuts_options)})" if self.nuts_options else ""
            raise InputError(
                f"{unused[0]} is an option of NUTS, but this model is sampled by {self.own_name}{taken}: leave it out, "
                f"or sample with step=pm.NUTS({unused[0]}=...)."
            )

    @classmethod
    def can_sample(cls, model: pm.Model, var: TensorVariable) -> bool:
        """Whether the step can sample `var`, alone or together with others."""
        raise NotImplementedError

    @classmethod
    def competence(cls, var: TensorVariable, has_grad: bool) -> Competence:
        """Ideal for what the step can sample; incompatible outside the context of a model, whose graph it needs."""
        model = context_model()
        is_sampled = model is not None and cls.can_sample(model, var)
        return Competence.IDEAL if is_sampled else Competence.INCOMPATIBLE

    @property
    def rng(self) -> np.random.Generator:
        """The source of all randomness of the step."""
        return self._rng

    @rng.setter
    def rng(self, generator: np.random.Generator) -> None:
        if not isinstance(generator.bit_generator, np.random.SFC64):
            seed = np.random.SeedSequence(generator.integers(2**63, size=4).tolist())
            generator = np.random.Generator(np.random.SFC64(seed))
        self._rng = generator
