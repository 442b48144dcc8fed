"""Checkpoints in the format of the original's releases, by variable name.

A checkpoint `bert_model.ckpt` is the files `bert_model.ckpt.index` and
`bert_model.ckpt.data-00000-of-00001`; what names it is what they share.
"""

import os
import re

import tensorflow as tf

from modeling.checkpoints.labels import copy_file, save_labels
from modeling.checkpoints.names import original_name
from modeling.checkpoints.restore import restore_variables

_FILE_OF_A_CHECKPOINT = re.compile(
    r"\.(?:index|meta|data-\d{5}-of-\d{5}|tempstate\d+)$"
)
# What the original's optimizer leaves in a checkpoint.
_TRAINING_STATE = re.compile(r"(?:^global_step|/adam_[mv])$")


def load_tf1_checkpoint(model, path):
    """Gives a model the values of a checkpoint's variables, by name.

    Args:
        model: any model here, built or not.
        path: the checkpoint, e.g. `uncased_L-12_H-768_A-12/bert_model.ckpt`,
            or a directory: the newest that its `checkpoint` file names, else
            the only one in it.

    Returns:
        `LoadReport`; Adam's slots and `global_step` are not counted.

    Raises:
        FileNotFoundError: there is no checkpoint.
        OSError: it cannot be read.
        ValueError: a variable of the encoder is missing or has another
            shape, or `path` is one file of a checkpoint.
    """
    prefix = find_tf1_checkpoint(path)
    try:
        reader = tf.train.load_checkpoint(prefix)
        shapes = {
            name: shape
            for name, shape in sorted(
                reader.get_variable_to_shape_map().items()
            )
            if not _TRAINING_STATE.search(name)
        }
        dtypes = reader.get_variable_to_dtype_map()

        def read(name):
            # Not `reader.get_tensor`: what it returns is copied once more
            # when it is assigned.
            return tf.raw_ops.RestoreV2(
                prefix=prefix,
                tensor_names=[name],
                shape_and_slices=[""],
                dtypes=[dtypes[name]],
            )[0]

        return restore_variables(model, prefix, shapes, read)
    except tf.errors.OpError as error:
        raise OSError(
            f"The checkpoint {prefix} cannot be read: {error.message}"
        ) from error


def save_checkpoint(model, path, leave_out=()):
    """Writes a model's weights as a checkpoint with the original's names.

    The checkpoint appears whole or not at all.

    Args:
        model: any model here.
        path: the checkpoint to write, without `.index`; its directory is
            made where there is none.
        leave_out: original names of weights not to write.

    Raises:
        ValueError: the model is not built.
        OSError: the files cannot be written.
    """
    if not model.built:
        raise ValueError(
            "The model has no weights yet: call `model.build()`, or load a "
            "checkpoint, before saving one."
        )
    weights = {original_name(weight): weight for weight in model.weights}
    write_checkpoint(
        path, {n: w for n, w in weights.items() if n not in leave_out}
    )


def save_release(model, directory, vocab_file=None, labels=None, leave_out=()):
    """Writes a folder laid out as the original's releases are.

    It holds bert_model.ckpt and bert_config.json, and vocab.txt and
    labels.txt where there are any.

    Args:
        model: any model here.
        directory: the folder; made where there is none.
        vocab_file: the vocabulary to copy, or None.
        labels: list of str, or None.
        leave_out: original names of weights not to write.

    Raises:
        ValueError: the model is not built, or a label spans lines.
        OSError: the files cannot be written.
    """
    os.makedirs(directory, exist_ok=True)
    save_checkpoint(
        model, os.path.join(directory, "bert_model.ckpt"), leave_out
    )
    config_file = os.path.join(directory, "bert_config.json")
    with open(f"{config_file}.partial", "w", encoding="utf-8") as writer:
        writer.write(model.config.to_json_string())
    os.replace(f"{config_file}.partial", config_file)
    if vocab_file:
        copy_file(vocab_file, os.path.join(directory, "vocab.txt"))
    if labels:
        save_labels(directory, labels)


def write_checkpoint(path, variables):
    """Writes variables as a checkpoint that appears whole or not at all.

    Args:
        path: the checkpoint to write, without `.index`.
        variables: {name: `keras.Variable`}.

    Raises:
        OSError: the files cannot be written.
    """
    path = str(path)
    partial = f"{path}.partial"
    folder = os.path.dirname(path) or "."
    files = (".data-00000-of-00001", ".index")
    try:
        tf.io.gfile.makedirs(folder)
        # Eager tensors share their variables' memory: nothing is copied.
        tf.raw_ops.SaveV2(
            prefix=partial,
            tensor_names=list(variables),
            shape_and_slices=[""] * len(variables),
            tensors=[tf.convert_to_tensor(v) for v in variables.values()],
        )
        # The index comes last and goes first, since a checkpoint without
        # one is none.
        if tf.io.gfile.exists(path + ".index"):
            tf.io.gfile.remove(path + ".index")
        for file in files:
            tf.io.gfile.rename(partial + file, path + file, overwrite=True)
    except tf.errors.OpError as error:
        raise OSError(
            f"The checkpoint {path} cannot be written: {error.message}"
        ) from error
    finally:
        # By their names: in a pattern, the path's own [ or * would count.
        # A write that failed leaves others than `files`.
        if tf.io.gfile.isdir(folder):
            for name in tf.io.gfile.listdir(folder):
                if name.startswith(os.path.basename(partial)):
                    tf.io.gfile.remove(os.path.join(folder, name))


def find_tf1_checkpoint(path):
    """Returns the checkpoint that `path` names; see load_tf1_checkpoint.

    Raises:
        FileNotFoundError: there is none.
        ValueError: `path` is one file of a checkpoint.
    """
    path = str(path)
    if _FILE_OF_A_CHECKPOINT.search(path):
        raise ValueError(
            f"{path} is one file of a checkpoint: give what its files share, "
            f"{_FILE_OF_A_CHECKPOINT.sub('', path)}"
        )
    if tf.io.gfile.isdir(path):
        found = tf.train.latest_checkpoint(path)
        if found:
            return found
        indexes = sorted(tf.io.gfile.glob(f"{path.rstrip('/')}/*.index"))
        if len(indexes) != 1:
            names = ", ".join(index.removesuffix(".index") for index in indexes)
            raise FileNotFoundError(
                f"The directory {path} must hold one checkpoint. "
                f"Received: {names or 'none'}"
            )
        return indexes[0].removesuffix(".index")
    if not tf.io.gfile.exists(path + ".index"):
        raise FileNotFoundError(
            f"There is no checkpoint {path}: no file {path}.index"
        )
    return path
