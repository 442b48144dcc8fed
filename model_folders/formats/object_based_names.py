"""Converts the names in object-based checkpoints to Google's.

Model Garden's classes of encoders share the names of their variables. In a
checkpoint without names, the keys of the values show the names.
tf_h5_weights.py converts the names in the checkpoints of transformers.
"""

import re
from collections.abc import Mapping

from model_folders.formats.weight_entries import NEXT_SENTENCE_POOLER

_BLOCK = r"(?:transformer|encoder)/layer_(\d{1,6})/"
_TO_BLOCK = r"bert/encoder/layer_\1/"
_DENSE = "(kernel|bias)"
_NORMALIZED = "(gamma|beta)"
# {pattern of a name: Google's name}. Any scope may precede a name. The names
# with `embedding_postprocessor` are of the releases of 2019.
_GOOGLE_NAME_OF_PATTERN = {
    "word_embeddings/embeddings": "bert/embeddings/word_embeddings",
    "position_embedding/embeddings"
    "|embedding_postprocessor/position_embeddings": (
        "bert/embeddings/position_embeddings"
    ),
    "type_embeddings/embeddings|embedding_postprocessor/type_embeddings": (
        "bert/embeddings/token_type_embeddings"
    ),
    rf"(?:embeddings|embedding_postprocessor)/layer_norm/{_NORMALIZED}": (
        r"bert/embeddings/LayerNorm/\1"
    ),
    rf"{_BLOCK}self_attention/(query|key|value)/{_DENSE}": (
        rf"{_TO_BLOCK}attention/self/\2/\3"
    ),
    rf"{_BLOCK}self_attention(?:/attention)?_output/{_DENSE}": (
        rf"{_TO_BLOCK}attention/output/dense/\2"
    ),
    rf"{_BLOCK}self_attention_layer_norm/{_NORMALIZED}": (
        rf"{_TO_BLOCK}attention/output/LayerNorm/\2"
    ),
    rf"{_BLOCK}(intermediate|output)/{_DENSE}": rf"{_TO_BLOCK}\2/dense/\3",
    rf"{_BLOCK}output_layer_norm/{_NORMALIZED}": (
        rf"{_TO_BLOCK}output/LayerNorm/\2"
    ),
    rf"pooler_transform/{_DENSE}": r"bert/pooler/dense/\1",
    rf"cls/predictions/transform/dense/{_DENSE}": (
        r"cls/predictions/transform/dense/\1"
    ),
    rf"cls/predictions/transform/LayerNorm/{_NORMALIZED}": (
        r"cls/predictions/transform/LayerNorm/\1"
    ),
    "cls/predictions/output_bias/bias": "cls/predictions/output_bias",
    rf"next_sentence/pooler_dense/{_DENSE}": rf"{NEXT_SENTENCE_POOLER}/\1",
    "next_sentence/logits/kernel": "cls/seq_relationship/output_weights",
    "next_sentence/logits/bias": "cls/seq_relationship/output_bias",
}
_LAYER = r"(?:_transformer_layers/|layer_with_weights-)(\d{1,6})/"
# {pattern of a key: the variable's name}, for checkpoints without names. Any
# scope may precede a key. `layer_with_weights-4` is the first block.
_NAME_OF_KEY_PATTERN = {
    "masked_lm/embedding_table|_embedding_layer/embeddings"
    "|layer_with_weights-0/embeddings": "word_embeddings/embeddings",
    "_position_embedding_layer/embeddings|layer_with_weights-1/embeddings": (
        "position_embedding/embeddings"
    ),
    "_type_embedding_layer/embeddings|layer_with_weights-2/embeddings": (
        "type_embeddings/embeddings"
    ),
    rf"(?:_embedding_norm_layer|layer_with_weights-3)/{_NORMALIZED}": (
        r"embeddings/layer_norm/\1"
    ),
    rf"{_LAYER}_attention_layer/_(query|key|value)_dense/{_DENSE}": (
        r"transformer/layer_\1/self_attention/\2/\3"
    ),
    rf"{_LAYER}_attention_layer/_output_dense/{_DENSE}": (
        r"transformer/layer_\1/self_attention/attention_output/\2"
    ),
    rf"{_LAYER}_attention_layer_norm/{_NORMALIZED}": (
        r"transformer/layer_\1/self_attention_layer_norm/\2"
    ),
    rf"{_LAYER}_(intermediate|output)_dense/{_DENSE}": (
        r"transformer/layer_\1/\2/\3"
    ),
    rf"{_LAYER}_output_layer_norm/{_NORMALIZED}": (
        r"transformer/layer_\1/output_layer_norm/\2"
    ),
    rf"(?:_pooler_layer|layer_with_weights-\d+)/{_DENSE}": (
        r"pooler_transform/\1"
    ),
    rf"masked_lm/dense/{_DENSE}": r"cls/predictions/transform/dense/\1",
    rf"masked_lm/layer_norm/{_NORMALIZED}": (
        r"cls/predictions/transform/LayerNorm/\1"
    ),
    r"masked_lm/output_bias\.Sbias": "cls/predictions/output_bias/bias",
    rf"next_sentence\.\.(pooler_dense|logits)/{_DENSE}": (
        r"next_sentence/\1/\2"
    ),
}
# Matches the names of the weights of Model Garden's heads of tasks: labels of
# texts, answers and tags. These weights are not read, but the encoder beside
# them is.
_OTHER_HEAD = re.compile(
    r"(?:^|/)(?:sentence_prediction|span_labeling|token_classification"
    r"|(?<!cls/)predictions/transform/logits)/"
)


def object_to_google(name: str) -> str | None:
    """Returns Google's name of a weight, None if no encoder or head has it.

    For example, transformer/layer_3/intermediate/kernel, in any scope, is
    bert/encoder/layer_3/intermediate/dense/kernel.
    """
    return _replace_match(_GOOGLE_NAME_OF_PATTERN, name)


def is_of_other_head(name: str) -> bool:
    """Returns whether a weight is of a head of Model Garden's tasks."""
    return bool(_OTHER_HEAD.search(name))


def name_of_key(key: str) -> str:
    """Returns the name that a key shows, or the key if it shows no name.

    For example, layer_with_weights-4/_intermediate_dense/kernel, the key of a
    weight of the first block, shows transformer/layer_0/intermediate/kernel.
    """
    name = _replace_match(_NAME_OF_KEY_PATTERN, key) or key
    if "layer_with_weights-" in key:
        # The first layers are the embeddings, and their normalization.
        return re.sub(
            r"/layer_(\d+)/", lambda match: f"/layer_{int(match[1]) - 4}/", name
        )
    return name


def _replace_match(patterns: Mapping[str, str], text: str) -> str | None:
    """Returns the replacement of the pattern that matches a text, else None."""
    for pattern, replacement in patterns.items():
        if match := re.fullmatch(rf"(?s:.*/)?(?:{pattern})", text):
            return match.expand(replacement)
    return None
