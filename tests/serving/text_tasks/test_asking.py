"""What a task does if a batch fails, and how it rounds its replies."""

import math

import pytest

from serving.engines import EngineError
from serving.text_tasks.asking import ask, round_numbers
from serving.text_tasks.request_fields import RequestField
from serving.text_tasks.text_task import EncodedRequest, TextTask
from tests.support.serving.stub_engines import (
    PARSE_NUMBER_TASK,
    create_export_stub,
)


class AskedWithFailures:
    """Three requests, asked of a network that fails on batches and on one.

    Attributes:
        encoded: texts in the order in which they were encoded.
        sizes: number of inputs of each run of the network.
        replies: the replies to "1", "2" and "3". "2" fails also alone.
    """

    def __init__(self):
        self.encoded = []
        self.sizes = []
        text_task = TextTask(
            "score",
            self._encode,
            PARSE_NUMBER_TASK.decode,
            [RequestField("text")],
        )
        self.replies = ask(
            create_export_stub(self._run_all),
            text_task,
            [{"text": text} for text in "123"],
        )

    def _encode(self, loaded_export, request):
        self.encoded.append(request["text"])
        return EncodedRequest([], request["text"])

    def _run_all(self, inputs, limits):
        self.sizes.append(len(inputs))
        if len(inputs) > 1 or 1 in inputs:
            raise EngineError("out of memory")
        yield {key: [] for key in inputs}


def test_texts_of_a_batch_that_failed_are_encoded_only_once():
    assert AskedWithFailures().encoded == [*"123"]


def test_the_network_runs_again_for_each_text_of_a_batch_that_failed():
    assert AskedWithFailures().sizes == [3, 1, 1, 1]


def test_only_a_text_that_fails_alone_has_no_reply():
    first, second, third = AskedWithFailures().replies
    assert isinstance(second.error, EngineError)
    assert [first, third] == [{"score": 1}, {"score": 3}]


def test_the_error_of_a_batch_is_logged_once(caplog):
    AskedWithFailures()
    assert caplog.text.count("out of memory") == 1


def test_an_error_of_the_code_is_not_hidden_by_a_second_run():
    runs = []

    def run_all(inputs, limits):
        runs.append(len(inputs))
        raise KeyError("masked_lm_probabilities")

    loaded_export = create_export_stub(run_all)
    with pytest.raises(KeyError, match="masked_lm_probabilities"):
        ask(loaded_export, PARSE_NUMBER_TASK, [{"text": "1"}, {"text": "2"}])
    assert runs == [2]


def test_the_numbers_of_a_reply_become_short():
    decoded = {
        "vector": [1 / 3, 2.0],
        "matrix": [[1 / 3], [2.0]],
        "score": 2 / 3,
        "label": None,
        "start": 7,
    }
    assert round_numbers(decoded) == {
        "vector": [0.333333, 2.0],
        "matrix": [[0.333333], [2.0]],
        "score": 0.666667,
        "label": None,
        "start": 7,
    }


@pytest.mark.parametrize("number", [math.nan, -math.inf])
def test_a_number_that_is_not_finite_is_an_error(number):
    with pytest.raises(EngineError, match=f"{number}.*not a finite number"):
        round_numbers({"scores": [[0.5, number]]})
