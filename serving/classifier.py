"""run_classifier.py's model over ids, and over one or two texts.

N = texts, L = labels.
"""

import tensorflow as tf

from data.tf_packing import PackingLayer
from serving import signatures
from training import export


def export_classifier(
    export_dir,
    model,
    label_list,
    vocab_file,
    do_lower_case,
    max_seq_length,
    output_mode="classification",
):
    """Exports a classifier: `serve` over ids, `classify` over text.

    `classify` takes `text_a` and `text_b`, string [N]; "" is no second text.
    It gives `probabilities` float32 [N, L] in the order of `labels`, string
    [L] (and labels.txt); `label`, string [N], the most probable one. With
    several labels `label` is string [N, L], "" where one does not hold. In
    regression there are but `values`, float32 [N].

    Args:
        export_dir: folder to write, whole or not at all.
        model: BertClassifier.
        label_list: list of str, its labels in order; None in regression.
        vocab_file: path of its vocabulary.
        do_lower_case: whether its text is lower-cased.
        max_seq_length: WordPieces of an input; longer texts are cut.
        output_mode: "classification", "multilabel" or "regression".
    """
    packing = PackingLayer(
        vocab_file, max_seq_length, do_lower_case, portable=True
    )

    def predict(features):
        logits = tf.cast(model(features, training=False), tf.float32)
        if output_mode == "regression":
            return {"values": logits[:, 0]}
        if output_mode == "multilabel":
            return {"probabilities": tf.sigmoid(logits)}
        return {"probabilities": tf.nn.softmax(logits)}

    def classify(text_a, text_b):
        outputs = predict(signatures.trim(packing(text_a, text_b)))
        if output_mode == "regression":
            return outputs
        labels = tf.constant(label_list)
        probabilities = outputs["probabilities"]
        if output_mode == "multilabel":
            label = tf.where(probabilities > 0.5, labels, "")
        else:
            label = tf.gather(labels, tf.argmax(probabilities, -1))
        return {**outputs, "label": label, "labels": labels}

    export.export_saved_model(
        export_dir,
        model,
        {
            "serve": signatures.serve_ids(predict),
            "classify": (
                classify,
                signatures.text_signature("text_a", "text_b"),
            ),
        },
        signatures.bert_files(model, vocab_file, label_list),
    )
