"""Exports the model of run_squad.py, with signatures that accept ids or text.

N = number of questions, W = windows, F = WordPieces in a window, T = WordPieces
in the longest window, B = answers in an n-best list.
"""

import os
from dataclasses import fields

import keras
import tensorflow as tf

from data.io.tfrecords import trim_padding
from data.squad.decoder_layer import SquadDecoder
from data.squad.decoding import DecodingOptions
from data.squad.passage_windows import WindowOptions
from data.squad.windows_layer import create_windows
from serving.formats.base import ExportOptions, trace_once
from serving.signatures import base as signatures
from serving.signatures import batches
from serving.signatures.batches import Features

_N_BEST = {
    "nbest_texts": "answers",
    "nbest_probabilities": "probabilities",
    "nbest_start_bytes": "start_bytes",
    "nbest_end_bytes": "end_bytes",
    "nbest_sizes": "num_answers",
}
# Number of questions whose answers are decoded together.
_QUESTIONS_AT_A_TIME = 64


def export_span_labeler(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    options: ExportOptions,
    windows: WindowOptions,
    decoding: DecodingOptions,
) -> None:
    """Exports a span labeler: `ids` accepts ids, `answer*` accepts text.

    The inputs of `answer` are `question` and `context`, string [N], of any
    length. The graph creates windows and decodes answers by the same rules as
    run_squad.py. `answer` returns these outputs, [N] each:

        answer                string
        probability           float32, probability among the n best answers
        start_byte, end_byte  int32, position of the answer in the context, -1
                              for "no answer"
        null_odds             float32, the score of "no answer" minus the score
                              of the best answer

    `answer_n_best` also returns the n best answers, the most probable first:
    `answers`, `probabilities`, `start_bytes` and `end_bytes`, [N, B] each,
    padded with "", 0 and -1, and `num_answers`, [N]. One of the answers can be
    "no answer", whose positions are -1. A SavedModel also contains the
    signature of `signatures.tokenize_texts`.

    Args:
        export_dir: folder to write. It gets this name when it is complete.
        model: BertSpanLabeler to export.
        options: ExportOptions. `max_seq_length` is the windows' length.
        windows: options for cutting passages into windows.
        decoding: options for converting logits to answers.
    """
    tokenizer = options.packing.tokenizer
    decode = SquadDecoder(decoding, windows.use_char_offsets)

    @trace_once
    def predict(features: Features) -> Features:
        return {
            name: tf.cast(logits, tf.float32)
            for name, logits in model(features, training=False).items()
        }

    signature = signatures.text_signature("question", "context")

    @trace_once
    def answer_n_best(question: tf.Tensor, context: tf.Tensor) -> Features:
        places, passages = create_windows(tokenizer, windows, question, context)

        def find_best(begin: tf.Tensor, end: tf.Tensor) -> Features:
            features = places.slice(begin, end).pack(
                tokenizer, windows.max_seq_length
            )
            if not decode.options.trim_padding:
                return decode.find_best(**predict(features))
            is_padding = features["input_mask"] == 0
            trimmed = predict(trim_padding(features, 1))
            logits = {}
            for name, values in trimmed.items():
                missing = tf.shape(is_padding)[1] - tf.shape(values)[1]
                padded = tf.pad(values, [[0, 0], [0, missing]])
                logits[name] = tf.where(is_padding, tf.float32.min, padded)
            return decode.find_best(**logits)

        best = batches.call_in_batches(
            find_best,
            tf.size(places.rows),
            options.predict_batch_size,
        )

        def decode_some(begin: tf.Tensor, end: tf.Tensor) -> Features:
            outputs = decode(places, passages, best, tf.range(begin, end))
            return {
                _N_BEST.get(name, name): tf.cast(value, tf.float32)
                if value.dtype == tf.float64
                else value
                for name, value in outputs.items()
                if not name.endswith("_logits")
            }

        # Join the outputs of many questions at a time, because many small
        # tensors need several times the memory of their values.
        return batches.call_in_batches(
            decode_some, tf.size(context), _QUESTIONS_AT_A_TIME
        )

    def answer(question: tf.Tensor, context: tf.Tensor) -> Features:
        outputs = answer_n_best(question, context)
        return {k: v for k, v in outputs.items() if k not in _N_BEST.values()}

    endpoints: signatures.Endpoints = {
        "answer": (answer, signature),
        "answer_n_best": (answer_n_best, signature),
    }
    # Copy only the fields of WindowOptions and DecodingOptions, because
    # `windows` and `decoding` may be a script's Config with more fields.
    task = {x.name: getattr(windows, x.name) for x in fields(WindowOptions)}
    for x in fields(DecodingOptions):
        task[x.name] = getattr(decoding, x.name)
    signatures.export_model(
        export_dir, model, predict, options, endpoints, task
    )
