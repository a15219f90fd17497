"""The base class of the step methods."""

from typing import Any

import numpy as np
import pymc as pm
from pymc.step_methods.compound import BlockedStep, Competence, StepMethodState
from pymc.util import get_random_generator, get_value_vars_from_user_vars
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.graph import context_model


class SeededStep(BlockedStep):
    """A step with its own generator, seeded by the one that PyMC gives to each chain.

    Most of the time of a sweep is spent on normal variates, which SFC64 generates half again as fast as PCG64.
    """

    _state_class = StepMethodState

    def __init__(self, vars: Any, model: pm.Model, rng: Any) -> None:
        self.vars = get_value_vars_from_user_vars(vars, model)
        self.rng = get_random_generator(rng)

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
