"""Many fits in one process."""

import weakref

import icb_pymc
from icb_pymc.sample.in_worker import forget_graphs


def test_graphs_of_earlier_fits_can_be_forgotten(dated_decisions):
    operations = []

    def declare(decisions):
        model = icb_pymc.models.nb_icb(decisions)
        operations.append(weakref.ref(model["belief"].owner.op))
        return model

    for seed in range(2):
        icb_pymc.fit(declare, dated_decisions, method="laplace", draws=5, random_seed=seed, progressbar=False)
    forget_graphs()
    assert [operation() for operation in operations] == [None, None]
