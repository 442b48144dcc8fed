"""Each Python task against its graph, on nasty texts.

The network is the same, so a difference is one of tokenizing, cutting, packing
or decoding.

The graph of serving/text_tasks/answer.py is in
exporting/answer_signatures.py, and so on.
"""

import functools

import numpy as np
import pytest

from tests.support.serving.twins import SIGNATURES, ask_twins


@pytest.fixture(scope="module")
def ask_signature(saved_models_folder):
    """(signature) -> {name of a case: its `Twins`}, asked once."""
    return functools.cache(lambda name: ask_twins(name, saved_models_folder))


def name_cases(*, blank):
    """Returns (signature, name of a case) as parameters of `twins`.

    They are the cases whose texts are all blank, or the others.
    """
    return [
        pytest.param((name, case), id=f"{name}-{case}")
        for name, signature in SIGNATURES.items()
        for case, texts in signature.cases.items()
        if ("".join(texts.values()).strip() == "") == blank
    ]


@pytest.fixture(params=name_cases(blank=False))
def twins(request, ask_signature):
    """The replies to a nasty text, or to a pair of them."""
    name, case = request.param
    return ask_signature(name)[case]


def is_text(array):
    """Returns whether an output of a graph contains texts."""
    return array.dtype.kind in "OU"


def cut(array, value):
    """Returns an array of the graph without the padding after a list."""
    return array[: len(value)] if isinstance(value, list) else array


@pytest.mark.parametrize("twins", name_cases(blank=True), indirect=True)
def test_only_in_python_a_blank_text_has_no_reply(twins):
    assert not twins.python
    assert twins.graph


def test_replies_have_the_outputs_of_the_graph(twins):
    assert twins.python.keys() == twins.graph.keys()


def test_texts_of_replies_are_those_of_the_graph(twins):
    for name, value, array in twins.outputs():
        if is_text(array):
            assert value == cut(array, value).tolist(), name


def test_numbers_of_replies_are_those_of_the_graph(twins):
    """To the digits that Python rounds to."""
    for name, value, array in twins.outputs():
        if not is_text(array):
            np.testing.assert_allclose(
                value, cut(array, value), 1e-4, 1e-4, err_msg=name
            )


def test_the_graph_pads_replies_with_blanks(twins):
    for name, value, array in twins.outputs():
        if isinstance(value, list):
            blanks = [""] if is_text(array) else [0, -1]
            assert np.isin(array[len(value) :], blanks).all(), name
