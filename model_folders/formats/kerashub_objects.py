"""Creates the contents of the JSON files of KerasHub's presets.

The files contain objects as Keras serializes them. kerashub_config.py reads
such files. Imports no Keras.
"""

from files.json_files import JsonObject
from model_folders.bert_config import LAYER_NORM_EPS, BertConfig
from model_folders.formats.kerashub_config import (
    DEFAULT_DROPOUT,
    NAME_OF_SIZE,
    PREPROCESSOR_FILE,
    TASK_FILE,
    TOKENIZER_FILE,
)

# {class: its module} of the objects that are written.
_MODULE_OF_CLASS = {
    "BertBackbone": "bert_backbone",
    "BertTextClassifier": "bert_text_classifier",
    "BertTextClassifierPreprocessor": "bert_text_classifier_preprocessor",
    "BertTokenizer": "bert_tokenizer",
}


def check_backbone(config: BertConfig) -> None:
    """Checks that a BertBackbone computes the same outputs as a network.

    Raises:
        ValueError: a BertBackbone computes other outputs. The message names the
            entry of `config` that is the cause.
    """
    rate = config.hidden_dropout_prob
    # A BertBackbone has a single rate of dropout.
    expected = {
        "hidden_act": "gelu",
        "layer_norm_eps": LAYER_NORM_EPS,
        "attention_probs_dropout_prob": rate,
    }
    for name, value in expected.items():
        received = getattr(config, name)
        if received != value:
            raise ValueError(
                f"KerasHub's BERT would compute something else: it needs "
                f"{name}={value!r}, but this model has {received!r}. Write "
                "another format"
            )


def create_network_json(config: BertConfig) -> JsonObject:
    """Returns the contents of the config.json of a BertBackbone."""
    entries = {
        entry: getattr(config, name) for name, entry in NAME_OF_SIZE.items()
    }
    return _create_object(
        "BertBackbone",
        **entries,
        dropout=config.hidden_dropout_prob,
        max_sequence_length=config.max_position_embeddings,
        num_segments=config.type_vocab_size,
    )


def create_tokenizer_json(do_lower_case: bool) -> JsonObject:
    """Returns the contents of a tokenizer.json.

    Google's BERT strips the accents of lower-cased text, which KerasHub does
    not do by default.
    """
    return _create_object(
        "BertTokenizer",
        dtype="int32",
        config_file=TOKENIZER_FILE,
        vocabulary=None,
        sequence_length=None,
        lowercase=do_lower_case,
        strip_accents=do_lower_case,
        split=True,
        suffix_indicator="##",
        oov_token="[UNK]",
        special_tokens=None,
        special_tokens_in_strings=False,
    )


def create_classifier_json(
    network: JsonObject,
    tokenizer: JsonObject,
    *,
    max_seq_length: int,
    num_labels: int,
    activation: str,
) -> dict[str, JsonObject]:
    """Returns {file: contents} of the files of a BertTextClassifier.

    Args:
        network: result of `create_network_json`.
        tokenizer: result of `create_tokenizer_json`.
        max_seq_length: length of inputs, in WordPieces.
        num_labels: number of outputs.
        activation: name of Keras's function of the outputs.
    """
    preprocessor = _create_object(
        "BertTextClassifierPreprocessor",
        tokenizer=tokenizer,
        config_file=PREPROCESSOR_FILE,
        sequence_length=max_seq_length,
        truncate="round_robin",
    )
    task = _create_object(
        "BertTextClassifier",
        # A task takes its type from its backbone.
        dtype=None,
        backbone=network,
        preprocessor=preprocessor,
        num_classes=num_labels,
        activation=activation,
        # The rate before the last layer, which Google's code fixes too.
        dropout=DEFAULT_DROPOUT,
    )
    return {TASK_FILE: task, PREPROCESSOR_FILE: preprocessor}


def _create_object(
    class_name: str, dtype: str | None = "float32", **entries: object
) -> JsonObject:
    """Returns a serialized object of KerasHub, as Keras writes it.

    If `dtype` is None, the object states neither the type of the weights nor
    whether they are trained.
    """
    module = _MODULE_OF_CLASS[class_name]
    weights: JsonObject = {}
    if dtype is not None:
        policy = {
            "module": "keras",
            "class_name": "DTypePolicy",
            "config": {"name": dtype},
            "registered_name": None,
        }
        weights = {"trainable": True, "dtype": policy}
    return {
        "module": f"keras_hub.src.models.bert.{module}",
        "class_name": class_name,
        "config": {
            "name": module,
            **weights,
            **entries,
        },
        "registered_name": f"keras_hub>{class_name}",
    }
