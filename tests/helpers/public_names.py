"""The public objects of the package, by the names that users import them by."""

import inspect
from typing import Any

import icb_pymc
import icb_pymc.declare
from icb_pymc import metrics, plots
from icb_pymc.models import agents, b_icb, hierarchical_nb_icb, irl, nb_icb, shrinkage_nb_icb

# Names of the front door that are not documented objects.
MODULES = ("__version__", "metrics", "models", "plots")


def own_functions(module: Any) -> dict[str, Any]:
    """Functions and classes that a module offers and this package defines."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    objects = {name: getattr(module, name) for name in names}
    return {
        f"{module.__name__}.{name}": value
        for name, value in objects.items()
        if callable(value) and getattr(value, "__module__", "").startswith("icb_pymc")
    }


PUBLIC = {f"icb_pymc.{name}": getattr(icb_pymc, name) for name in icb_pymc.__all__ if name not in MODULES}
PUBLIC |= own_functions(plots) | own_functions(icb_pymc.declare) | own_functions(irl) | own_functions(agents)
PUBLIC |= {
    f"icb_pymc.models.{model.__name__}": model for model in (nb_icb, b_icb, hierarchical_nb_icb, shrinkage_nb_icb)
}
PUBLIC |= {
    f"icb_pymc.metrics.{name}": value
    for name, value in vars(metrics).items()
    if inspect.isfunction(value) and value.__module__ == metrics.__name__ and not name.startswith("_")
}
