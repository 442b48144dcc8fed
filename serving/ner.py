"""A token classifier over ids, and over text.

N = texts, M = words of the longest, F = length of an input, L = tags.
"""

import tensorflow as tf

from data.tf_ner import NerWindows, part_punctuation
from serving import signatures
from training import export


def export_token_classifier(
    export_dir,
    model,
    label_list,
    vocab_file,
    do_lower_case,
    max_seq_length,
    batch_size=8,
):
    """Exports a token classifier: `serve` over ids, two over text.

    `tag_words` takes `text`, string [N], of any length, whose words white
    space parts, as in CoNLL's files. It gives `words` and their `tags`,
    string [N, M], "" where a text has fewer; `probabilities` of the tags,
    float32 [N, M]; and `num_words`, int32 [N]. `tag` does the same with
    running text: what punctuation begins and ends words is a word first.

    Args:
        export_dir: folder to write, whole or not at all.
        model: BertTokenClassifier.
        label_list: list of str, its tags in order.
        vocab_file: path of its vocabulary.
        do_lower_case: whether its text is lower-cased.
        max_seq_length: WordPieces of a window; longer texts have several.
        batch_size: windows that the network takes at a time.
    """
    create_windows = NerWindows(vocab_file, do_lower_case, max_seq_length)

    def predict(features):
        logits = tf.cast(model(features, training=False), tf.float32)
        return {"probabilities": tf.nn.softmax(logits)}

    def tag_words(text):
        words, features, places = create_windows(text)
        probabilities = tf.gather_nd(
            signatures.call_in_batches(
                lambda batch: predict(batch)["probabilities"],
                signatures.trim(features),
                batch_size,
                [None, len(label_list)],
            ),
            places,
        )
        tags = tf.gather(label_list, tf.argmax(probabilities, -1))
        return {
            "words": words.to_tensor(),
            "tags": words.with_flat_values(tags).to_tensor(),
            "probabilities": words.with_flat_values(
                tf.reduce_max(probabilities, -1)
            ).to_tensor(),
            "num_words": tf.cast(words.row_lengths(), tf.int32),
        }

    def tag(text):
        return tag_words(part_punctuation(text))

    signature = signatures.text_signature("text")
    export.export_saved_model(
        export_dir,
        model,
        {
            "serve": signatures.serve_ids(predict),
            "tag": (tag, signature),
            "tag_words": (tag_words, signature),
        },
        signatures.bert_files(model, vocab_file, label_list),
    )
