"""Creates the signatures of exports, and writes exports, for all tasks.

N = number of texts or pairs of texts, F = length of an input of the network in
WordPieces, with padding, T = length of the longest input, B = number of inputs
that the network runs on at a time.
"""

import dataclasses
import functools
import os
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from data.text.packing_layer import PackingLayer
from data.text.tokenization import FullTokenizer
from files import json_files
from files.labels import PROBLEM_TYPES
from modeling import config_files, descriptions, ops
from serving import batches, engines
from serving.batches import Features
from serving.export import formats
from training.config import ExportConfig
from training.task import Task

# {name: (function, specs of the function's inputs)}
Endpoints = dict[str, tuple[Callable[..., Features], list[tf.TensorSpec]]]


@dataclasses.dataclass(frozen=True)
class ServingOptions:
    """Options of an export that accepts text: tokenizer, lengths and format.

    Attributes:
        tokenizer: FullTokenizer of the model.
        max_seq_length: maximum number of WordPieces in an input or a window.
        predict_batch_size: maximum number of inputs in one batch of the
            network, to limit the memory of a large request.
        export: format of the export. None for a SavedModel.
    """

    tokenizer: FullTokenizer
    max_seq_length: int = 128
    predict_batch_size: int = 32
    export: ExportConfig | None = None

    @classmethod
    def of(cls, task: Task) -> "ServingOptions":
        """Returns the options of a fine-tuning task's export."""
        config = task.options
        sizes = config.max_seq_length, config.predict_batch_size
        return cls(task.tokenizer, *sizes, config)

    @functools.cached_property
    def packing(self) -> PackingLayer:
        """The layer that turns texts into padded inputs of the network."""
        return PackingLayer(self.tokenizer.layer, self.max_seq_length)


def text_signature(*names: str) -> list[tf.TensorSpec]:
    """Returns a TensorSpec, string [N], for each name of a text input."""
    return [tf.TensorSpec([None], tf.string, name=name) for name in names]


def serve_ids(
    function: Callable[[Features], Features], model: keras.Model
) -> tuple[Callable[..., Features], list[tf.TensorSpec]]:
    """Creates the endpoint `serve`, which accepts WordPiece ids.

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
            reason = f"{name} must be from 0 to {size - 1}. Received:"
            reason += " lowest, highest:"
            is_valid = (lowest >= 0) & (highest < size)
            check = tf.debugging.Assert(is_valid, [reason, lowest, highest])
            checks.append(check)
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
    endpoints: Endpoints | None = None,
    options: ServingOptions | None = None,
    task: dict[str, Any] | None = None,
    export_options: ExportConfig | None = None,
) -> None:
    """Exports a model: `serve` accepts ids, optional signatures accept text.

    Args:
        export_dir: folder to write. It gets this name when it is complete.
        model: a BertModel, or a model from modeling.tasks.
        predict: function (features) -> dict of outputs, for `serve`.
        endpoints: the task's signatures that accept text. `tokenize` is
            added. If None, only `serve` is exported.
        options: ServingOptions, or None for a model without a tokenizer.
        task: {name: value} to record under `task` in the export's model.json.
            `max_seq_length` is added.
        export_options: format of the export. Used only if `options` is None,
            because `options.export` contains the format too.
    """
    served = {"serve": serve_ids(predict, model)}
    files = {"bert_config.json": model.config.to_json_string()}
    task, tokenizer = task or {}, None
    if options:
        tokenizer, export_options = options.tokenizer, options.export
    if options and endpoints:
        task = task | {"max_seq_length": options.max_seq_length}
        served |= endpoints | tokenize_texts(options.packing)
        files |= descriptions.describe_copy(
            getattr(export_options, "weights", None),
            model,
            descriptions.EXPORT,
            task,
            labels=task.get("labels"),
            tokenizer=tokenizer,
        )
    mode = task.get("output_mode", "classification")
    if labels := task.get("labels"):
        files["labels.txt"] = "".join(f"{label}\n" for label in labels)
    if export_options and export_options.export_formats != ("saved_model",):
        entries = config_files.config_entries(model, labels)
        if tokenizer:
            entries["pad_token_id"] = tokenizer.vocab.get("[PAD]", 0)
        if labels:
            entries["problem_type"] = PROBLEM_TYPES[mode]
        name = config_files.CONFIG_FILE
        files[name] = json_files.format_json(entries, name, indent=2) + "\n"
    formats.export_saved_model(
        export_dir, model, served, files, export_options, tokenizer, mode
    )


def tokenize_texts(packing: PackingLayer) -> Endpoints:
    """Returns the endpoint `tokenize`.

    All exports that accept text contain this endpoint. Its inputs are `text_a`
    and `text_b`, string [N]. A `text_b` of "" means no second text. It returns

        tokens          string [N, T], the tokens that the model reads, with
                        [CLS] and [SEP], "" at positions of padding
        lengths         int32 [N], the number of tokens
        num_wordpieces  int32 [N], number of WordPieces of both texts before
                        long texts are cut

    Args:
        packing: layer that tokenizes the texts, cuts long texts and packs them.
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
