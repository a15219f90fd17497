"""Tasks in forked processes: results in order, errors as they are, and a process that dies is told."""

import os

import pytest

from icb_pymc import InputError
from icb_pymc.io.forks import in_forks


@pytest.mark.parametrize("processes", [1, 2])
def test_results_are_in_order_and_the_function_may_be_a_closure(processes):
    table = [5, 7, 9]
    assert list(in_forks(lambda number: table[number], range(3), processes)) == table


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_of_a_task_comes_up_as_it_is(processes):
    def refuse(number):
        raise InputError(f"no {number}.")

    with pytest.raises(InputError, match="no 0"):
        list(in_forks(refuse, range(3), processes))


def test_a_process_that_dies_ends_the_run_with_a_sentence_instead_of_waiting_for_ever():
    with pytest.raises(InputError, match="was killed, or ran out of memory"):
        list(in_forks(lambda number: os._exit(9), range(3), 2))
