"""Exports a token classifier, with signatures that take ids or text.

N = number of texts, M = words of the longest text, F = WordPieces in an input,
L = number of tags.
"""

import os
from collections.abc import Sequence

import keras
import tensorflow as tf

from data.ner.layers import cut_texts, decode_legal, split_punctuation
from data.text.characters import CJK_RANGES
from data.text.tokenizer_layer import drop_invalid
from serving import batches, signatures
from serving.batches import Features

# Regular expressions for text that is split off as a separate word. Keep them
# equal to the expressions in data/ner/words.py.
_IDEOGRAPHS = "".join(rf"\x{{{a:x}}}-\x{{{b:x}}}" for a, b in CJK_RANGES)
_BETWEEN_WORDS = (
    rf"(\x{{2014}}+|\x{{2015}}+|\x{{2026}}+|--+|\.\.\.+|[{_IDEOGRAPHS}])"
)


def export_token_classifier(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    label_list: Sequence[str],
    options: signatures.ServingOptions,
    only_legal: bool = False,
) -> None:
    """Exports a token classifier: `serve` accepts ids, `tag*` accepts text.

    The input of `tag_words` is `text`, string [N], of any length, with white
    space between the words, as in CoNLL's files. It returns

        words          string [N, M], "" after the last word of a text
        tags           string [N, M], "" after the last word of a text
        probabilities  float32 [N, M], the probability of each tag
        num_words      int32 [N], the number of words

    `tag` returns the same outputs for text that is not split into words yet. It
    first separates punctuation at the start and end of words, dashes and dots
    between words ("York\u2014often"), and ideographs. Other punctuation inside
    words stays, as in CoNLL's files: "U.S.", "O'Brien", "Franco-German".

    `signatures.inspect` adds the signatures `tokenize` and `attention`.

    Args:
        export_dir: folder to write. It appears when it is complete.
        model: BertTokenClassifier to export.
        label_list: tags in the order of the model's outputs.
        options: ServingOptions. Texts longer than `options.max_seq_length`
            are read in several windows.
        only_legal: True to return the best legal sequence of tags (see
            data/ner/legal_tags.py), False to return the best tag of each word.
    """
    tokenizer = options.tokenizer.layer
    predict = signatures.trace_once(signatures.softmax_of(model))
    signature = signatures.text_signature("text")

    # Use tf.function, so that both endpoints call one graph of the network.
    @tf.function(autograph=False, input_signature=signature)
    def tag_words(text: tf.Tensor) -> Features:
        length = options.max_seq_length
        words, rows, places = cut_texts(text, tokenizer, length)

        def tag_some(begin: tf.Tensor, end: tf.Tensor) -> Features:
            packed = rows.slice(begin, end).pack(tokenizer, length)
            outputs = predict(batches.trim(packed))
            # `places` contains, for each word, the window that tags the word
            # and the position in the window. It is sorted by window, so the
            # words of these windows are adjacent rows.
            windows = tf.cast(tf.stack([begin, end]), tf.int64)
            first, last = tf.unstack(tf.searchsorted(places[:, 0], windows))
            shift = tf.stack([windows[0], 0])
            selected = places[first:last] - shift
            found = tf.gather_nd(outputs["probabilities"], selected)
            return {"probabilities": found}

        outputs = batches.call_in_batches(
            tag_some, tf.size(rows.rows), options.predict_batch_size
        )
        found = outputs["probabilities"]
        ids = tf.argmax(found, -1)
        if only_legal:
            check = batches.check_padding(words.row_lengths())
            with tf.control_dependencies([check]):
                ragged = words.with_flat_values(tf.identity(found))
            ids = decode_legal(ragged, label_list)
        flat = {
            "tags": tf.gather(label_list, ids),
            "probabilities": tf.gather(found, ids, batch_dims=1),
        }
        ragged = {k: words.with_flat_values(v) for k, v in flat.items()}
        return {
            **batches.to_padded({"words": words, **ragged}),
            "num_words": tf.cast(words.row_lengths(), tf.int32),
        }

    def tag(text: tf.Tensor) -> Features:
        text = drop_invalid(text)
        text = tf.strings.regex_replace(text, _BETWEEN_WORDS, r" \1 ")
        return tag_words(split_punctuation(text))

    endpoints: signatures.Endpoints = {
        "tag": (tag, signature),
        "tag_words": (tag_words, signature),
    }
    task = {"labels": [*label_list], "legal_tags": only_legal}
    signatures.export_model(
        export_dir, model, predict, endpoints, options, task
    )
