"""Creates the signatures of a span labeler: `answer` and `answer_n_best`.

N = number of questions, W = windows, T = WordPieces in a window, with padding,
B = answers in an n-best list.
"""

import functools
from typing import cast

import tensorflow as tf

from data.padding import trim_batch
from data.squad.answer_decoding_graph import DecodedAnswers, SquadDecoder
from data.squad.passage_windows_graph import Passages, create_windows
from data.squad.squad_options import (
    DecodingOptions,
    WindowOptions,
    parse_options,
    to_settings,
)
from data.squad.token_spans_graph import BestLogits
from data.text.token_windows_graph import Windows
from exporting import batching_graph, export_formats
from exporting.export_options import ExportOptions
from exporting.signatures import (
    ExportSignatures,
    Signature,
    Tensors,
    share_graph,
    text_inputs,
)
from model_folders.head_settings import SpanLabelerSettings
from modeling.task_models import BertSpanLabeler

# {output of `answer` and `answer_n_best`: its key in DecodedAnswers}
_KEY_OF_OUTPUT = {
    "answer": "answer",
    "probability": "probability",
    "start_byte": "start_byte",
    "end_byte": "end_byte",
    "null_odds": "null_odds",
}
# {output that only `answer_n_best` returns: its key in DecodedAnswers}
_KEY_OF_N_BEST_OUTPUT = {
    "answers": "nbest_texts",
    "probabilities": "nbest_probabilities",
    "start_bytes": "nbest_start_bytes",
    "end_bytes": "nbest_end_bytes",
    "num_answers": "nbest_sizes",
}
# Number of questions whose answers are decoded together.
_DECODED_BATCH_SIZE = 64


def create_answer_signatures(
    model: BertSpanLabeler,
    head_settings: SpanLabelerSettings,
    options: ExportOptions,
) -> ExportSignatures:
    """Returns the signatures of a span labeler.

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
    "no answer", whose positions are -1.

    Args:
        model: model to export.
        head_settings: the fields of WindowOptions and DecodingOptions.
        options: `max_seq_length` is the length of the windows.

    Raises:
        ValueError: the windows are too short for the questions.
    """
    window_options = parse_options(
        WindowOptions,
        {**head_settings, "max_seq_length": options.max_seq_length},
    )
    decoding_options = parse_options(DecodingOptions, head_settings)
    answerer = _QuestionAnswerer(
        model, window_options, decoding_options, options
    )
    inputs = text_inputs("question", "context")
    return ExportSignatures(
        predict=answerer.predict,
        text_signatures={
            "answer": Signature(answerer.answer, inputs),
            "answer_n_best": Signature(answerer.answer_n_best, inputs),
        },
        head_settings=to_settings(window_options, decoding_options),
        exported_output=export_formats.LOGITS,
    )


class _QuestionAnswerer:
    """Answers questions with a span labeler.

    Attributes:
        predict: function of the signature `ids`.
        answer_n_best: function of the signature `answer_n_best`.
    """

    def __init__(
        self,
        model: BertSpanLabeler,
        window_options: WindowOptions,
        decoding_options: DecodingOptions,
        options: ExportOptions,
    ) -> None:
        self._model = model
        self._window_options = window_options
        self._tokenizer = options.packing.tokenizer
        self._batch_size = options.predict_batch_size
        self._decoder = SquadDecoder(
            decoding_options, window_options.use_char_offsets
        )
        # Both signatures call the same graph.
        self.predict = share_graph(self._predict)
        self.answer_n_best = share_graph(self._answer_n_best)

    def answer(self, question: tf.Tensor, context: tf.Tensor) -> Tensors:
        """Returns the best answer to each question, without the n best."""
        outputs = self.answer_n_best(question, context)
        return {name: outputs[name] for name in _KEY_OF_OUTPUT}

    def _answer_n_best(
        self, question: tf.Tensor, context: tf.Tensor
    ) -> Tensors:
        """Runs the network on batches of windows, then decodes by questions."""
        windows, passages = create_windows(
            self._tokenizer, self._window_options, question, context
        )
        best = batching_graph.call_in_batches(
            functools.partial(self._compute_best_logits, windows),
            tf.size(windows.text_indices),
            self._batch_size,
        )
        # Join the outputs of many questions at a time, because many small
        # tensors need several times the memory of their values.
        return batching_graph.call_in_batches(
            functools.partial(self._decode_questions, windows, passages, best),
            tf.size(context),
            _DECODED_BATCH_SIZE,
        )

    def _predict(self, features: Tensors) -> Tensors:
        outputs = self._model(features, training=False)
        return {
            "start_logits": tf.cast(outputs["start_logits"], tf.float32),
            "end_logits": tf.cast(outputs["end_logits"], tf.float32),
        }

    def _compute_best_logits(
        self, windows: Windows, start: tf.Tensor, end: tf.Tensor
    ) -> BestLogits:
        """Returns the highest logits in windows `start` to `end` - 1."""
        features = windows.slice(start, end).pack(
            self._tokenizer, self._window_options.max_seq_length
        )
        if not self._decoder.options.trim_padding:
            return self._decoder.select_best_logits(**self.predict(features))
        outputs = self.predict(trim_batch(features, 1))
        is_padding = features["input_mask"] == 0
        return self._decoder.select_best_logits(
            **_without_padding(outputs, is_padding)
        )

    def _decode_questions(
        self,
        windows: Windows,
        passages: Passages,
        best: BestLogits,
        start: tf.Tensor,
        end: tf.Tensor,
    ) -> Tensors:
        """Returns the answers to questions `start` to `end` - 1."""
        rows = tf.range(start, end)
        return _to_outputs(self._decoder(windows, passages, best, rows))


def _to_outputs(decoded: DecodedAnswers) -> Tensors:
    """Returns the decoder's results by the names of the signature's outputs."""
    tensors = cast(Tensors, decoded)
    keys = _KEY_OF_OUTPUT | _KEY_OF_N_BEST_OUTPUT
    return {name: _to_float32(tensors[key]) for name, key in keys.items()}


def _to_float32(tensor: tf.Tensor) -> tf.Tensor:
    """Returns numbers of the decoder, float64, as clients get them."""
    return tf.cast(tensor, tf.float32) if tensor.dtype.is_floating else tensor


def _without_padding(logits: Tensors, is_padding: tf.Tensor) -> Tensors:
    """Makes logits [W, longest window] as long as padded windows, [W, T].

    The lowest logits are at the positions of padding, bool [W, T], so that no
    answer begins or ends there.
    """
    num_missing = tf.shape(is_padding)[1] - tf.shape(logits["start_logits"])[1]
    return {
        name: tf.where(
            is_padding,
            tf.float32.min,
            tf.pad(values, [[0, 0], [0, num_missing]]),
        )
        for name, values in logits.items()
    }
