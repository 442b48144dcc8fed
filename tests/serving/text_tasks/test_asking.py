"""What a task does if a batch fails, and how it rounds its replies."""

import math

import pytest

from serving.engines import EngineError
from serving.text_tasks.asking import Asker, round_numbers
from serving.text_tasks.request_fields import Field
from serving.text_tasks.text_task import EncodedRequest, TextTask
from tests.support.serving.stub_engines import (
    PARSE_NUMBER_TASK,
    create_text_engine_stub,
)


def test_texts_of_a_batch_that_failed_are_encoded_only_once(caplog):
    encoded = []
    sizes = []

    def encode(text_engine, request):
        encoded.append(request["text"])
        return EncodedRequest([], request["text"])

    def run_all(inputs, **_):
        sizes.append(len(inputs))
        if len(inputs) > 1 or 1 in inputs:
            raise EngineError("out of memory")
        yield {key: [] for key in inputs}

    text_engine = create_text_engine_stub(run_all)
    text_task = TextTask(
        "score", encode, PARSE_NUMBER_TASK.decode, [Field("text")]
    )
    asker = Asker(text_engine, text_task)
    replies = asker.ask([{"text": text} for text in "123"])
    assert encoded == [*"123"]
    assert sizes == [3, 1, 1, 1]
    assert [replies[0], replies[2]] == [{"score": 1}, {"score": 3}]
    assert isinstance(replies[1].error, EngineError)
    assert caplog.text.count("out of memory") == 1


def test_an_error_of_the_code_is_not_hidden_by_a_second_run():
    runs = []

    def run_all(inputs, **_):
        runs.append(len(inputs))
        raise KeyError("masked_lm_probabilities")

    asker = Asker(create_text_engine_stub(run_all), PARSE_NUMBER_TASK)
    with pytest.raises(KeyError, match="masked_lm_probabilities"):
        asker.ask([{"text": "1"}, {"text": "2"}])
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
