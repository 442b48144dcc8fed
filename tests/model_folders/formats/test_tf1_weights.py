"""Checkpoints of TensorFlow: how they are opened, and which are damaged."""

import os
import re

import numpy as np
import pytest
import tensorflow as tf

from model_folders.formats.tf1_weights import (
    check_tf1_files,
    open_tf1_checkpoint,
)

VALUES = {
    "bert/pooler/dense/bias": np.array([1.5, 2.5], np.float32),
    "bert/pooler/dense/kernel": np.ones([2, 300], np.float32),
}


def write_checkpoint(prefix, values):
    """Writes a checkpoint, and returns its prefix."""
    tf.raw_ops.SaveV2(
        prefix=str(prefix),
        tensor_names=[*values],
        shape_and_slices=[""] * len(values),
        tensors=[*values.values()],
    )
    return str(prefix)


@pytest.fixture
def prefix(tmp_path):
    """The prefix of a whole checkpoint of two variables."""
    return write_checkpoint(tmp_path / "bert_model.ckpt", VALUES)


def data_file(prefix):
    """Returns the path of the file that contains the values."""
    return f"{prefix}.data-00000-of-00001"


def test_variables_are_read_by_name(prefix):
    with open_tf1_checkpoint(prefix) as (reader, _):
        assert reader.get_variable_to_shape_map() == {
            "bert/pooler/dense/bias": [2],
            "bert/pooler/dense/kernel": [2, 300],
        }
        bias = reader.get_tensor("bert/pooler/dense/bias")
    assert bias.tolist() == [1.5, 2.5]


def test_a_folder_with_a_wildcard_in_its_name_is_opened(tmp_path):
    (tmp_path / "run[1]*").mkdir()
    prefix = write_checkpoint(tmp_path / "model.ckpt", VALUES)
    for path in tmp_path.glob("model.ckpt.*"):
        path.rename(tmp_path / "run[1]*" / path.name)
    assert not os.path.exists(data_file(prefix))
    moved = tmp_path / "run[1]*/model.ckpt"
    with open_tf1_checkpoint(moved) as (reader, _):
        assert reader.has_tensor("bert/pooler/dense/bias")


def test_a_complete_checkpoint_is_accepted(prefix):
    check_tf1_files(prefix)


def test_texts_beside_the_variables_are_not_counted(tmp_path):
    texts = {"graph": np.array("a long text" * 99)}
    check_tf1_files(write_checkpoint(tmp_path / "model.ckpt", VALUES | texts))


def test_shorter_values_than_the_index_lists_are_an_error(prefix):
    os.truncate(data_file(prefix), 100)
    message = (
        f"{prefix} cannot be read: its variables need 2408 bytes, but the "
        f"files {prefix}.data-* contain 100."
    )
    with pytest.raises(OSError, match=re.escape(message)):
        check_tf1_files(prefix)


def test_missing_values_are_an_error(prefix):
    os.remove(data_file(prefix))
    with pytest.raises(OSError, match=f"{re.escape(prefix)} cannot be read: "):
        check_tf1_files(prefix)


def test_a_checkpoint_that_does_not_exist_is_named(tmp_path):
    message = f"The checkpoint {tmp_path}/absent.ckpt cannot be read: "
    with pytest.raises(OSError, match=re.escape(message)):
        check_tf1_files(tmp_path / "absent.ckpt")


def test_a_damaged_index_is_named_without_ending_the_process(prefix):
    with open(f"{prefix}.index", "wb") as file:
        file.write(b"no index")
    message = f"The checkpoint {prefix} cannot be read: it is no index"
    with (
        pytest.raises(OSError, match=re.escape(message)),
        open_tf1_checkpoint(prefix),
    ):
        pass


def test_an_index_that_was_replaced_is_checked_again(prefix):
    check_tf1_files(prefix)
    with open(f"{prefix}.index", "wb") as file:
        file.write(b"no index")
    with pytest.raises(OSError, match="it is no index of a checkpoint"):
        check_tf1_files(prefix)
