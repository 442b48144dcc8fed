"""Creates the signatures of exports, and writes exports, for all tasks.

N = number of texts or pairs of texts, F = length of an input of the network in
WordPieces, with padding, T = length of the longest input, B = number of inputs
that the network runs on at a time.
"""

import json
import os
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from data.text.packing_layer import PackingLayer
from files import atomic, folders
from modeling import config_files, descriptions, ops
from modeling.checkpoints.tf1 import errors_named
from modeling.kinds import PROBLEM_TYPES
from modeling.tokenizer_files import tokenizer_files
from serving import engines
from serving.formats import base as formats
from serving.formats.base import ExportOptions
from serving.signatures import batches
from serving.signatures.batches import Features

Endpoints = dict[str, formats.Endpoint]


def text_signature(*names: str) -> list[tf.TensorSpec]:
    """Returns a TensorSpec, string [N], for each name of a text input."""
    return [tf.TensorSpec([None], tf.string, name=name) for name in names]


def serve_ids(
    function: Callable[[Features], Features], model: keras.Model
) -> formats.Endpoint:
    """Creates the endpoint `ids`, which accepts WordPiece ids.

    Its inputs are `input_ids`, `input_mask` and `segment_ids`, as in Google's
    BERT, [B, F], or [B, C, F] for C choices. In a SavedModel, the endpoint
    fails on ids outside the model's range. In LiteRT, it does not check ids,
    and invalid ids read arbitrary embeddings.

    Args:
        function: function from a dict of the inputs to a dict of outputs.
        model: a BertModel, or a model from modeling.tasks.

    Returns:
        (the endpoint's function, the specs of its int32 inputs).
    """
    sizes = {
        "input_ids": model.config.vocab_size,
        "input_mask": 2,
        "segment_ids": model.config.type_vocab_size,
    }

    def serve(
        input_ids: tf.Tensor, input_mask: tf.Tensor, segment_ids: tf.Tensor
    ) -> Features:
        values = (input_ids, input_mask, segment_ids)
        features = dict(zip(sizes, values, strict=True))
        checks = []
        for name, size in sizes.items() if not ops.is_plain() else ():
            lowest = tf.reduce_min(features[name])
            highest = tf.reduce_max(features[name])
            reason = f"{name} must be from 0 to {size - 1}. Lowest, highest:"
            is_valid = (lowest >= 0) & (highest < size)
            checks.append(batches.check(is_valid, reason, lowest, highest))
        with tf.control_dependencies(checks):
            return function(
                {name: tf.identity(value) for name, value in features.items()}
            )

    return serve, [
        tf.TensorSpec([None] * model.feature_ranks[name], tf.int32, name=name)
        for name in engines.INPUTS
    ]


def export_model(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    predict: Callable[..., Features],
    options: ExportOptions,
    endpoints: Endpoints | None = None,
    task: dict[str, Any] | None = None,
    head_outputs: str = "classification",
) -> None:
    """Exports a model: `ids` accepts ids, the other signatures accept text.

    If the only format is a SavedModel, all other files except README.md are
    written to the folder `assets.extra`.

    Args:
        export_dir: folder to write. It gets this name when it is complete.
        model: a BertModel, or a model from modeling.tasks.
        predict: function (features) -> dict of outputs, for `ids`.
        options: ExportOptions.
        endpoints: the task's signatures that accept text, the main one first.
            `tokenize` is added. If None, only `ids` is exported.
        task: {name: value} to record under `task` in the export's model.json.
            `max_seq_length` is added.
        head_outputs: outputs of a classifier (see `formats.write_models`).

    Raises:
        OSError: the export cannot be written. An earlier export does not
            change.
        ValueError: the folder contains files that are not an export (see
            files/folders.py), or the model has no weights yet.
    """
    if not model.built:
        raise ValueError(
            f"{model.name} has no weights yet; call build() or load a "
            f"checkpoint before you export the model to {export_dir}"
        )
    task = task or {}
    if endpoints:
        task = task | {"max_seq_length": options.max_seq_length}
        endpoints = endpoints | tokenize_texts(options.packing)
    every = {"ids": serve_ids(predict, model)} | (endpoints or {})
    # The main task's signature is the default, or `ids` without a tokenizer.
    every["serving_default"] = [*(endpoints or every).values()][0]
    with folders.new_folder(export_dir) as folder:
        with errors_named(f"--export_dir={export_dir}"):
            formats.write_models(folder, model, every, options, head_outputs)
        extra = folder
        if tuple(options.formats) == ("saved_model",):
            extra = folder / "assets.extra"
            extra.mkdir(exist_ok=True)
        contents = _describe(model, options, task)
        for name, content in contents.items():
            atomic.write_bytes(extra / name, content)
        if not task:
            return
        sizes = descriptions.file_sizes(folder)
        if extra == folder:
            sizes["model.json"] = 0
        files = descriptions.describe_copy(
            options.weights,
            model,
            descriptions.EXPORT,
            task,
            labels=task.get("labels"),
            tokenizer=options.tokenizer,
            files=sizes,
        )
        for name, text in files.items():
            place = folder if name == descriptions.CARD else extra
            atomic.write_text(place / name, text)


def _describe(
    model: keras.Model, options: ExportOptions, task: dict[str, Any]
) -> dict[str, bytes]:
    # Returns {name: content} of the files that describe the model.
    files = {"bert_config.json": model.config.to_json_string()}
    labels, tokenizer = task.get("labels"), options.tokenizer
    if labels:
        files["labels.txt"] = "".join(f"{label}\n" for label in labels)
    if tuple(options.formats) != ("saved_model",):
        mode = task.get("output_mode", "classification")
        problem_type = PROBLEM_TYPES[mode] if labels else None
        entries = config_files.config_entries(
            model, labels, tokenizer, problem_type
        )
        name = config_files.CONFIG_FILE
        files[name] = json.dumps(entries, indent=2) + "\n"
    contents = {name: text.encode() for name, text in files.items()}
    if tokenizer:
        longest = model.config.max_position_embeddings
        contents |= tokenizer_files(tokenizer, longest)
    return contents


def tokenize_texts(packing: PackingLayer) -> Endpoints:
    """Returns the endpoint `tokenize`.

    All exports that accept text contain this endpoint. Its inputs are `text_a`
    and `text_b`, string [N]. A `text_b` of "" means no second text. It returns

        tokens          string [N, T], the tokens that the model reads, with
                        [CLS] and [SEP], "" at positions of padding
        lengths         int32 [N], the number of tokens
        num_wordpieces  int32 [N], number of WordPieces of both texts before
                        long texts are cut
    """
    vocab = packing.tokenizer.vocab

    def tokenize(text_a: tf.Tensor, text_b: tf.Tensor) -> Features:
        tokens = packing.tokenize(text_a, text_b)
        ids, _ = packing.join(*tokens)
        names = ids.with_flat_values(tf.gather(vocab, ids.flat_values))
        counts = [tf.cast(some.row_lengths(), tf.int32) for some in tokens]
        return {
            **batches.to_padded({"tokens": names}),
            "lengths": tf.cast(ids.row_lengths(), tf.int32),
            "num_wordpieces": tf.add_n(counts),
        }

    return {"tokenize": (tokenize, text_signature("text_a", "text_b"))}
