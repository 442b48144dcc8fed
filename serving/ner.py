"""A token classifier over ids, and over text.

N = texts, M = words of the longest, F = length of an input, L = tags.
"""

import os
from collections.abc import Sequence

import keras
import tensorflow as tf

from data.ner.words_layer import NerWindows, split_punctuation
from serving import inspection, signatures
from serving.signatures import Features
from training import export


def export_token_classifier(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    label_list: Sequence[str],
    options: signatures.ServingOptions,
) -> None:
    """Exports a token classifier: `serve` over ids, two over text.

    `tag_words` takes `text`, string [N], of any length, with white space
    between its words, as in CoNLL's files. It returns

        words          string [N, M], "" where a text has fewer
        tags           string [N, M], "" where a text has fewer
        probabilities  float32 [N, M], those of the tags
        num_words      int32 [N]

    `tag` returns the same for running text: it first makes words of the
    punctuation that begins and ends words.

    Of `tokenize` and `attention` see inspection.py.

    Args:
        export_dir: folder to write, whole or not at all.
        model: BertTokenClassifier.
        label_list: its tags in order.
        options: longer texts have several windows.
    """
    create_windows = NerWindows(
        options.vocab_file, options.do_lower_case, options.max_seq_length
    )

    def predict(features: Features) -> Features:
        logits = tf.cast(model(features, training=False), tf.float32)
        return {"probabilities": tf.nn.softmax(logits)}

    signature = signatures.text_signature("text")

    # One graph for both endpoints.
    @tf.function(autograph=False, input_signature=signature)
    def tag_words(text: tf.Tensor) -> Features:
        words, windows, pack, places = create_windows(text)

        def tag_some(begin: tf.Tensor, end: tf.Tensor) -> Features:
            outputs = predict(signatures.trim(pack(begin, end)))
            # Words are in the order of the windows that tag them.
            first, last = tf.unstack(
                tf.searchsorted(
                    places[:, 0], tf.cast(tf.stack([begin, end]), tf.int64)
                )
            )
            shift = tf.stack([tf.cast(begin, tf.int64), 0])
            found = tf.gather_nd(
                outputs["probabilities"], places[first:last] - shift
            )
            return {
                "probabilities": tf.reduce_max(found, -1),
                "ids": tf.argmax(found, -1),
            }

        outputs = signatures.call_in_batches(
            tag_some,
            tf.size(windows.rows),
            options.predict_batch_size,
            {
                "probabilities": tf.TensorSpec([None]),
                "ids": tf.TensorSpec([None], tf.int64),
            },
        )
        tags = tf.gather(label_list, outputs["ids"])
        padded = signatures.to_padded(
            {
                "words": words,
                "tags": words.with_flat_values(tags),
                "probabilities": words.with_flat_values(
                    outputs["probabilities"]
                ),
            }
        )
        return {
            **padded,
            "num_words": tf.cast(words.row_lengths(), tf.int32),
        }

    def tag(text: tf.Tensor) -> Features:
        return tag_words(split_punctuation(text))

    export.export_saved_model(
        export_dir,
        model,
        {
            "serve": signatures.serve_ids(predict, model.config, options),
            "tag": (tag, signature),
            "tag_words": (tag_words, signature),
            **inspection.inspect(model.bert, options.create_packing()),
        },
        signatures.bert_files(model, options.vocab_file, label_list),
        options,
    )
