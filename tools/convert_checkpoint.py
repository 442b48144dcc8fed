"""Converts a BERT between Google's, Hugging Face's and KerasHub's formats.

    python -m tools.convert_checkpoint --init_checkpoint=MODEL --output_dir=OUT

A folder like Google's releases (bert_model.ckpt, bert_config.json, vocab.txt)
becomes a folder that transformers reads (model.safetensors, config.json,
vocab.txt and the tokenizer's other files), or vice versa. The weights do not
change. With --output_format=kerashub it becomes a preset that KerasHub reads.
With --extended_vocab_file the tool also adds embeddings of new words.
For LiteRT, ONNX and SavedModels, see tools/export.py.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, Self, TypeAlias, get_args

from absl import logging

import modeling
from command_line import cli, config_values, flags
from command_line.flags import flag
from command_line.path_flags import PathKind
from data.text import tokenization, tokenizer_loading, vocabulary
from model_folders import kinds
from model_folders.cards import descriptions, model_card
from model_folders.reading import hub, presets, settings_check
from model_folders.reading.input_length import read_max_seq_length
from model_folders.reading.preset_reading import read_preset
from modeling.checkpoints.head_detection import find_head_classes

if TYPE_CHECKING:
    from modeling.base_model import BaseModel

CheckpointFormat: TypeAlias = Literal["tf1", "huggingface", "kerashub"]
# {value of --model: name of the model's class in this project}.
_CLASS_OF_FLAG: dict[str, kinds.ModelClass] = {
    "bert": kinds.ENCODER,
    "pretraining": kinds.PRETRAINER,
    "classifier": kinds.CLASSIFIER,
    "squad": kinds.SPAN_LABELER,
    "token_classifier": kinds.TOKEN_CLASSIFIER,
    "multiple_choice": kinds.MULTIPLE_CHOICE,
}
_FLAG_OF_CLASS = {
    model_class: value for value, model_class in _CLASS_OF_FLAG.items()
}
# Files that define how sentence-transformers computes one vector for a text.
_POOLING_FILES = (
    "1_Pooling/config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(flags.Config):
    """Flags of the tool: the checkpoint to convert, and the folder to write."""

    init_checkpoint: str = flag(
        ...,
        "Path of the checkpoint to convert: the prefix of a TF1 checkpoint, or "
        "a Hugging Face folder, .safetensors file or pytorch_model.bin, or "
        "hf://OWNER/NAME[@REVISION] of the Hugging Face hub.",
        kind=PathKind.MODEL,
    )
    output_dir: str = flag(
        ..., "Folder to write. Created if missing.", kind=PathKind.NEW_FOLDER
    )
    output_format: CheckpointFormat | None = flag(
        None,
        "Format to write. By default, a Google checkpoint is converted to "
        "Hugging Face format and vice versa. With --extended_vocab_file, the "
        "default is the format of --init_checkpoint. kerashub writes a preset "
        "of an encoder or a classifier that KerasHub reads.",
        choices=get_args(CheckpointFormat),
    )
    bert_config_file: str | None = flag(
        None,
        "The model's configuration file, by default in --init_checkpoint.",
        kind=PathKind.MODEL,
    )
    vocab_file: str | None = flag(
        None,
        "The model's vocabulary. By default vocab.txt or tokenizer.json "
        "beside the checkpoint.",
        kind=PathKind.INPUT_FILE,
    )
    extended_vocab_file: str | None = flag(
        None,
        "Vocabulary that tools.create_vocabulary --extend wrote. The model "
        "gets an embedding for each new word: the mean of the embeddings of "
        "the WordPieces into which the old vocabulary splits the word.",
        kind=PathKind.INPUT_FILE,
    )
    do_lower_case: bool | None = flag(
        None,
        "Whether transformers' tokenizer lower-cases text: True for uncased "
        "models. The default is the value in the tokenizer's files beside the "
        "checkpoint, or else True if the vocabulary is lower-cased.",
    )
    model: str | None = flag(
        None,
        "Task of the checkpoint's head. By default, config.json or the names "
        "of the weights determine it.",
        choices=list(_CLASS_OF_FLAG),
    )

    def download(self) -> Self:
        """Downloads a model of the hub. Returns the flags with its folder."""
        return config_values.convert_paths(
            self, hub.to_local_folder, "init_checkpoint"
        )


def _choose_model_class(
    config: Config, checkpoint: str, preset: presets.Preset
) -> kinds.ModelClass:
    """Returns the class of the model in a checkpoint.

    --model determines it, or the folder, or the names of the weights.
    """
    if config.model is not None:
        return _CLASS_OF_FLAG[config.model]
    for model_class in _FLAG_OF_CLASS:
        if model_class == preset.model_class:
            return model_class
    first, *others = find_head_classes(modeling.read_shapes(checkpoint))
    if others:
        *values, last = (_FLAG_OF_CLASS[name] for name in (first, *others))
        raise ValueError(
            f"{checkpoint} does not show for which task its head was trained. "
            f"Use --model={', '.join(values)} or {last}"
        )
    return first


def _choose_format(config: Config, checkpoint: str) -> CheckpointFormat:
    """Returns the format to write.

    By default, convert to the format that the checkpoint does not have. If the
    vocabulary is extended, keep the format.
    """
    if config.output_format is not None:
        return config.output_format
    is_huggingface = bool(modeling.find_huggingface(checkpoint))
    writes_huggingface = bool(config.extended_vocab_file) == is_huggingface
    return "huggingface" if writes_huggingface else "tf1"


def _check_format(
    output_format: CheckpointFormat,
    checkpoint: str,
    model_class: kinds.ModelClass,
    preset: presets.Preset,
) -> None:
    """Raises a ValueError if transformers' BERT lacks a part of the network."""
    if output_format != "huggingface":
        return
    network = {name for name, is_on in preset.network.items() if is_on}
    if model_class == kinds.ENCODER:
        # The LSTM is dropped, because only models with a task's head contain
        # it.
        network.discard("bilstm")
    if network:
        raise ValueError(
            f"{checkpoint} was trained with --{' --'.join(network)}, which "
            "transformers' BERT lacks. Set --output_format=tf1"
        )


def _load_tokenizer(
    config: Config, bert_config: "modeling.BertConfig", preset: presets.Preset
) -> tokenization.FullTokenizer:
    """Returns the checkpoint's tokenizer, after checking that it fits."""
    vocab_file = config.vocab_file or preset.vocab_file
    if not vocab_file:
        raise ValueError(f"no vocab.txt in {preset.path}; set --vocab_file")
    tokenizer = tokenizer_loading.create_tokenizer(
        vocab_file,
        config.do_lower_case,
        preset,
        bert_config.vocab_size,
    )
    settings_check.check_trained_settings(preset, bert_config, tokenizer)
    return tokenizer


def _extend_tokenizer(
    tokenizer: tokenization.FullTokenizer, extended_vocab_file: str
) -> tuple[tokenization.FullTokenizer, list[list[int]]]:
    """Returns the tokenizer of the extended vocabulary, and its old ids.

    The old ids are, for each token of the extended vocabulary, the ids of the
    old tokens whose embeddings are averaged.
    """
    extended = tokenization.FullTokenizer(
        extended_vocab_file, tokenizer.do_lower_case
    )
    extended.check_vocab()
    old_ids = vocabulary.extension_rows(tokenizer.tokens, extended.tokens)
    return extended, old_ids


def _load_model(
    preset: presets.Preset,
    bert_config: "modeling.BertConfig",
    model_class: kinds.ModelClass,
) -> tuple["BaseModel", list[str]]:
    """Creates a model of a class, and loads its weights.

    Returns the model, and the names of the weights that the checkpoint lacks.
    """
    # Import late, so that --help does not wait until TensorFlow is loaded.
    from modeling.task_models import CLASS_OF_NAME

    model, report = CLASS_OF_NAME[model_class].load_preset(
        preset, config=bert_config
    )
    if model_class != kinds.ENCODER and all(
        weight.startswith("bert/") for weight in report.loaded
    ):
        raise ValueError(
            f"{preset.weights_path} contains no weights of "
            f"--model={_FLAG_OF_CLASS[model_class]}"
        )
    if report.unused:
        logging.warning("Unused checkpoint entries: %s", report.unused)
    return model, report.missing


def _write_copy(
    config: Config,
    preset: presets.Preset,
    model: "BaseModel",
    tokenizer: tokenization.FullTokenizer,
    *,
    missing: Sequence[str],
    output_format: CheckpointFormat,
) -> None:
    """Writes the copy of a model to --output_dir.

    The copy does not contain the weights `missing`, which the checkpoint lacks.
    """
    model_class = kinds.listed_class_of(model)
    max_seq_length = read_max_seq_length(
        preset, model_class, model.config.max_position_embeddings
    )
    changed: Sequence[str] = ()
    if config.extended_vocab_file:
        changed = ("bert_config", "tokenizer")
    description = descriptions.create_model_json_of_copy(
        preset,
        model_class,
        {"max_seq_length": max_seq_length},
        changed=changed,
    )
    has_labels = kinds.KIND_OF_CLASS[model_class].has_labels
    is_for_hub = output_format == "huggingface"
    card = model_card.Card(
        kind=model_card.HUGGINGFACE if is_for_hub else model_card.WEIGHTS,
        description=description,
        labels=preset.labels if has_labels else None,
        do_lower_case=tokenizer.do_lower_case,
    )
    files = descriptions.create_copy_files(card)
    if model_class == kinds.ENCODER:
        files |= _read_pooling_files(preset)
    save = _choose_save(preset, model_class, max_seq_length, output_format)
    save(
        model,
        config.output_dir,
        tokenizer=tokenizer,
        labels=card.labels,
        leave_out=missing,
        files=files,
    )


def _read_pooling_files(preset: presets.Preset) -> dict[str, str]:
    """Returns {name: text} of the _POOLING_FILES that a folder contains."""
    paths = {name: Path(preset.path, name) for name in _POOLING_FILES}
    return {
        name: path.read_text("utf-8")
        for name, path in paths.items()
        if path.is_file()
    }


class _Save(Protocol):
    """A function that writes a model in a format."""

    def __call__(
        self,
        model: "BaseModel",
        folder: str,
        /,
        *,
        tokenizer: tokenization.FullTokenizer,
        labels: Sequence[str] | None,
        leave_out: Sequence[str],
        files: Mapping[str, str],
    ) -> None:
        """Writes the files of a model to a folder, as `save_release` does."""


def _choose_save(
    preset: presets.Preset,
    model_class: kinds.ModelClass,
    max_seq_length: int,
    output_format: CheckpointFormat,
) -> _Save:
    """Returns the function that writes a model with this head in a format."""
    if output_format == "kerashub":
        return functools.partial(
            modeling.save_kerashub,
            max_length=max_seq_length,
            output_mode=preset.head_settings.get("output_mode"),
        )
    if output_format == "huggingface":
        problem_type = None
        if model_class == kinds.CLASSIFIER:
            problem_type = preset.head_settings.get("problem_type")
        return functools.partial(
            modeling.save_huggingface,
            max_length=max_seq_length,
            problem_type=problem_type,
        )
    return modeling.save_release


def main(parsed: flags.ParsedCommand[Config]) -> None:
    """Converts a checkpoint. Checks all inputs before it writes a file."""
    config = parsed.config
    preset = read_preset(config.init_checkpoint, "--init_checkpoint")
    checkpoint = modeling.find_checkpoint(preset)
    bert_config = preset.load_required_config(config.bert_config_file)
    model_class = _choose_model_class(config, checkpoint, preset)
    preset.check_model_class(model_class)
    output_format = _choose_format(config, checkpoint)
    _check_format(output_format, checkpoint, model_class, preset)
    tokenizer = _load_tokenizer(config, bert_config, preset)
    old_ids = None
    if config.extended_vocab_file:
        tokenizer, old_ids = _extend_tokenizer(
            tokenizer, config.extended_vocab_file
        )
    model, missing = _load_model(preset, bert_config, model_class)
    if old_ids is not None:
        model = modeling.extend_model(model, old_ids)
    _write_copy(
        config,
        preset,
        model,
        tokenizer,
        missing=missing,
        output_format=output_format,
    )
    logging.info("Wrote %s", config.output_dir)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
