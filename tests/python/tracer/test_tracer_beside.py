"""A function that runs in a forked child beside the parent's own work."""

import os
import signal

import pytest
from workbench_tracer.beside import beside
from workbench_tracer.errors import TracerError, not_traced


def test_the_result_comes_from_another_process():
    with beside(os.getpid) as child:
        assert child.result() != os.getpid()


def test_a_refusal_in_the_child_is_one_in_the_parent():
    def refuse():
        raise not_traced("mask", "No mask.", "layer 3")

    with beside(refuse) as child, pytest.raises(TracerError) as raised:
        child.result()
    assert (raised.value.code, raised.value.message, raised.value.where, raised.value.exit_status) == ("mask", "No mask.", "layer 3", 4)


def test_a_child_that_dies_is_made_up_for_here():
    parent = os.getpid()

    def die_in_the_child():
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return "here"

    with beside(die_in_the_child) as child:
        assert child.result() == "here"


def test_a_child_that_nobody_waits_for_is_ended():
    with beside(signal.pause) as child:
        pid = child._child
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
