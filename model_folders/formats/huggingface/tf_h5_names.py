"""Converts the names of TensorFlow's classes in transformers 4 to Google's.

tf_model.h5 and the checkpoints of `save_weights` contain the same names.
"""

import re

# Matches what precedes the name of a weight, such as LAYER/MODEL/.
_SCOPES = re.compile(
    r"(?s)^.*/"
    r"(?=(?:bert|cls|mlm___cls|nsp___cls|classifier|qa_outputs)/)"
)
# Patterns of names, and their replacements by Google's names.
_REPLACEMENTS = (
    (r":0$", ""),
    (r"^(?:mlm|nsp)___cls/", "cls/"),
    (r"^qa_outputs/", "cls/squad/"),
    (r"/layer_\._(\d+)/", r"/layer_\1/"),
    (r"/((?:word|position|token_type)_embeddings)/\w+$", r"/\1"),
    (r"^cls/predictions/bias$", "cls/predictions/output_bias"),
    (r"^classifier/kernel$", "output_weights"),
    (r"^classifier/bias$", "output_bias"),
    (r"^(cls/seq_relationship|cls/squad)/kernel$", r"\1/output_weights"),
    (r"^(cls/seq_relationship|cls/squad)/bias$", r"\1/output_bias"),
)
# Matches Google's names of the weights of a BERT and of the heads.
_DENSE = "(?:kernel|bias)"
_NORMALIZED = "LayerNorm/(?:gamma|beta)"
_WEIGHT_NAME = re.compile(
    r"bert/embeddings/(?:word_embeddings|position_embeddings"
    rf"|token_type_embeddings|{_NORMALIZED})"
    r"|bert/encoder/layer_\d{1,6}/(?:"
    rf"attention/(?:self/(?:query|key|value)|output/dense)/{_DENSE}"
    rf"|(?:intermediate|output)/dense/{_DENSE}"
    rf"|(?:attention/)?output/{_NORMALIZED})"
    rf"|bert/pooler/dense/{_DENSE}"
    rf"|cls/predictions/(?:output_bias|transform/(?:dense/{_DENSE}"
    rf"|{_NORMALIZED}))"
    r"|(?:cls/(?:seq_relationship|squad)/)?output_(?:weights|bias)"
)


def tf_h5_to_google(stored: str) -> str | None:
    """Returns Google's name of a weight, None if no BERT or head has it.

    Args:
        stored: name in the file, such as
            `bert/tf_bert_model/bert/encoder/layer_._0/output/dense/kernel:0`.
    """
    name = _SCOPES.sub("", stored)
    for pattern, replacement in _REPLACEMENTS:
        name = re.sub(pattern, replacement, name)
    return name if _WEIGHT_NAME.fullmatch(name) else None
