"""SavedModels in TensorFlow: names, shapes, and folders of other programs.

tests/serving/engines/test_engine.py compares the replies of all engines.
"""

import numpy as np
import pytest
import tensorflow as tf

from serving.engines.saved_model import SavedModel


class Doubler(tf.Module):
    """Doubles the ids of a batch, whose rows have four WordPieces."""

    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(2)

    @tf.function(
        input_signature=[tf.TensorSpec([None, 4], tf.int32, "input_ids")]
    )
    def double(self, input_ids):
        return {"doubled": self.factor * input_ids}


@pytest.fixture
def save_model(tmp_path):
    """(name of the signature, name of the folder) -> path of the file."""

    def save(signature, name="model"):
        module = Doubler()
        folder = tmp_path / name
        tf.saved_model.save(module, str(folder), {signature: module.double})
        return folder / "saved_model.pb"

    return save


def test_a_signature_of_ids_has_its_shape_and_its_outputs(save_model):
    engine = SavedModel(save_model("ids"))
    assert engine.inputs == {"input_ids": (None, 4)}
    assert not engine.needs_single_rows
    ids = np.arange(8, dtype=np.int32).reshape(2, 4)
    outputs = engine.run({"input_ids": ids})
    assert [*outputs] == ["doubled"]
    np.testing.assert_array_equal(outputs["doubled"], 2 * ids)


def test_a_folder_of_another_program_is_named(save_model):
    path = save_model("serving_default")
    with pytest.raises(OSError, match="model has no signature `ids`"):
        SavedModel(path)


def test_brackets_in_the_path_of_a_folder_are_not_a_pattern(save_model):
    assert SavedModel(save_model("ids", "model [1]*")).inputs


def test_a_model_of_damaged_weights_is_named(save_model):
    path = save_model("ids")
    (path.parent / "variables" / "variables.index").write_bytes(b"damaged")
    with pytest.raises(OSError, match=r"saved_model\.pb cannot be loaded"):
        SavedModel(path)
