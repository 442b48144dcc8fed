"""The flags of tools/convert_checkpoint.py."""

import dataclasses
from typing import Final, Literal, TypeAlias, get_args

from model_folders.kinds import ModelClass
from options.config import Config
from options.fields import PathType, option

CheckpointFormat: TypeAlias = Literal["tf1", "huggingface", "kerashub"]
# {class of a model: value of --model}. An embedder has the weights of its
# encoder.
FLAG_OF_CLASS: Final[dict[ModelClass, str]] = {
    ModelClass.ENCODER: "bert",
    ModelClass.PRETRAINER: "pretraining",
    ModelClass.CLASSIFIER: "classifier",
    ModelClass.SPAN_LABELER: "squad",
    ModelClass.TOKEN_CLASSIFIER: "token_classifier",
    ModelClass.MULTIPLE_CHOICE: "multiple_choice",
}
CLASS_OF_FLAG = {
    value: model_class for model_class, value in FLAG_OF_CLASS.items()
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConvertCheckpointConfig(Config):
    """The checkpoint to convert, and the folder to write."""

    init_checkpoint: str = option(
        ...,
        "Path of the checkpoint to convert: the prefix of a TF1 checkpoint, or "
        "a Hugging Face folder, .safetensors file or pytorch_model.bin, or "
        "hf://OWNER/NAME[@REVISION] of the Hugging Face hub.",
        path_type=PathType.MODEL,
    )
    output_dir: str = option(
        ...,
        "Folder to write. Created if missing.",
        path_type=PathType.NEW_FOLDER,
    )
    output_format: CheckpointFormat | None = option(
        None,
        "Format to write. By default, a Google checkpoint is converted to "
        "Hugging Face format and vice versa. With --extended_vocab_file, the "
        "default is the format of --init_checkpoint. kerashub writes a preset "
        "of an encoder or a classifier that KerasHub reads.",
        choices=get_args(CheckpointFormat),
    )
    bert_config_file: str | None = option(
        None,
        "The model's configuration file, by default in --init_checkpoint.",
        path_type=PathType.MODEL,
    )
    vocab_file: str | None = option(
        None,
        "The model's vocabulary. By default vocab.txt or tokenizer.json "
        "beside the checkpoint.",
        path_type=PathType.INPUT_FILE,
    )
    extended_vocab_file: str | None = option(
        None,
        "Vocabulary that tools.create_vocabulary --extend wrote. The model "
        "gets an embedding for each new word: the mean of the embeddings of "
        "the WordPieces into which the old vocabulary splits the word.",
        path_type=PathType.INPUT_FILE,
    )
    do_lower_case: bool | None = option(
        None,
        "Whether transformers' tokenizer lower-cases text: True for uncased "
        "models. The default is the value in the tokenizer's files beside the "
        "checkpoint, or else True if the vocabulary is lower-cased.",
    )
    model: str | None = option(
        None,
        "Task of the checkpoint's head. By default, config.json or the names "
        "of the weights determine it.",
        choices=list(CLASS_OF_FLAG),
    )
