"""Models of LiteRT: what is loaded, and what its calls share.

tests/serving/engines/test_engine.py compares the replies of all engines.
"""

from concurrent import futures

import numpy as np
import pytest
import tensorflow as tf

pytest.importorskip("ai_edge_litert", reason="needs requirements/litert.txt")

from serving.engines.litert import LiteRt


@pytest.fixture
def write_doubling_model(tmp_path):
    """(length of a row or None) -> path of a model that doubles ids."""

    def write(length=None):
        spec = tf.TensorSpec([None, length], tf.int32, "input_ids")

        @tf.function(input_signature=[spec])
        def double(input_ids):
            return {"doubled": 2 * input_ids}

        saved = str(tmp_path / "saved")
        tf.saved_model.save(tf.Module(), saved, {"serve": double})
        converter = tf.lite.TFLiteConverter.from_saved_model(
            saved, signature_keys=["serve"]
        )
        path = tmp_path / "model.tflite"
        path.write_bytes(converter.convert())
        return path

    return write


def double(engine, ids):
    return engine.run({"input_ids": np.array(ids, np.int32)})["doubled"]


@pytest.mark.parametrize("length", [None, 3])
def test_the_shape_of_the_inputs_is_that_of_the_file(
    write_doubling_model, length
):
    engine = LiteRt(write_doubling_model(length), num_threads=1)
    assert engine.inputs == {"input_ids": (None, length)}
    assert not engine.needs_single_rows


def test_batches_of_any_size_are_computed(write_doubling_model):
    engine = LiteRt(write_doubling_model(), num_threads=1)
    assert double(engine, [[1, 2, 3]]).tolist() == [[2, 4, 6]]
    assert double(engine, [[1], [2]]).tolist() == [[2], [4]]


def test_the_next_call_does_not_change_earlier_outputs(write_doubling_model):
    engine = LiteRt(write_doubling_model(3))
    first = double(engine, [[1, 2, 3]])
    double(engine, [[7, 8, 9]])
    assert first.tolist() == [[2, 4, 6]]


def test_calls_of_several_threads_do_not_mix(write_doubling_model):
    engine = LiteRt(write_doubling_model(), num_threads=1)

    def ask(number):
        ids = np.full([1 + number % 5, 1 + number % 7], number)
        np.testing.assert_array_equal(double(engine, ids), 2 * ids)

    with futures.ThreadPoolExecutor(8) as pool:
        assert len([*pool.map(ask, range(400))]) == 400


def test_a_copy_over_the_file_changes_no_reply(write_doubling_model):
    path = write_doubling_model()
    engine = LiteRt(path)
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
    assert double(engine, [[1, 2]]).tolist() == [[2, 4]]


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(b"damaged")
    with pytest.raises(OSError, match=r"model\.tflite cannot be loaded"):
        LiteRt(path)
