"""Lists the text tasks, and reads from an export which of them it supports.

`TextModel.__init__` in serving/text_model.py loads the network before, by
serving/engines/.
"""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from data.text.tokenization import FullTokenizer
from exporting import checksums
from model_folders import model_json
from model_folders.kinds import KIND_OF_CLASS, ModelClass
from model_folders.model_json import HeadSettings
from model_folders.output_modes import MULTILABEL, REGRESSION
from model_folders.reading.preset import Preset, read_preset
from serving.engines import Engine
from serving.text_tasks.answer import ANSWER
from serving.text_tasks.classify import CLASSIFY, RERANK
from serving.text_tasks.embed import EMBED
from serving.text_tasks.pretrained import FILL_MASK, NEXT_SENTENCE
from serving.text_tasks.tag import TAG
from serving.text_tasks.text_task import AnyTextEngine, AnyTextTask, TextEngine
from serving.text_tasks.tokenize import TOKENIZE, without_pairs

# {what a model is for: text tasks that it supports, the main task first}. Other
# models read only ids.
_TEXT_TASKS_OF_PIPELINE_TAG: dict[str, tuple[AnyTextTask, ...]] = {
    "feature-extraction": (EMBED,),
    "fill-mask": (FILL_MASK, NEXT_SENTENCE),
    "question-answering": (ANSWER,),
    "text-classification": (CLASSIFY, RERANK),
    "token-classification": (TAG,),
}
# {class of the model: text tasks that the model supports, the main task first}.
TEXT_TASKS_OF_CLASS: dict[ModelClass, tuple[AnyTextTask, ...]] = {
    name: _TEXT_TASKS_OF_PIPELINE_TAG[kind.pipeline_tag]
    for name, kind in KIND_OF_CLASS.items()
    # An embedder is exported as its encoder.
    if kind.pipeline_tag in _TEXT_TASKS_OF_PIPELINE_TAG
    and name != ModelClass.EMBEDDER
}


def list_text_tasks() -> list[AnyTextTask]:
    """Returns the text tasks of all classes, and `tokenize` of any model."""
    text_tasks = [
        *itertools.chain.from_iterable(TEXT_TASKS_OF_CLASS.values()),
        TOKENIZE,
    ]
    # Several classes support the same text task.
    return [*{text_task.name: text_task for text_task in text_tasks}.values()]


class ExportContents(NamedTuple):
    """The settings and names that an export contains beside its network.

    Attributes:
        head_settings: settings of the head.
        columns: columns of the texts that the model was trained on, as far as
            they are known.
        text_engine: the engine with its tokenizer, None if the model accepts
            no text.
        text_task_of_name: {name: text task} of the model, the main one first.
    """

    head_settings: HeadSettings
    columns: Sequence[str | None] = ()
    text_engine: AnyTextEngine | None = None
    text_task_of_name: Mapping[str, AnyTextTask] = MappingProxyType({})


def read_export(folder: Path, engine: Engine) -> ExportContents:
    """Reads an export whose network is loaded, and checks that all fits.

    Args:
        folder: folder of the export.
        engine: engine that runs the network.

    Raises:
        OSError: a file cannot be read, or the network belongs to another
            export.
        ValueError: a file is malformed, or a setting is missing or does not fit
            the network. Or the model was trained with another vocabulary.
    """
    preset = _read_preset(folder)
    checksums.check_network_files(folder, engine.name, preset.model_json)
    head_settings: HeadSettings = {
        **preset.head_settings,
        "labels": preset.labels,
    }
    if preset.model_class not in TEXT_TASKS_OF_CLASS:
        return ExportContents(head_settings)
    model_class = ModelClass(preset.model_class)
    # Prefer what the training run recorded, because the command that exported
    # the model may not know it.
    stated = head_settings.get("num_texts")
    head_settings["num_texts"] = preset.training_settings.get(
        "num_texts", stated
    )
    tokenizer = read_tokenizer(preset)
    model_json_file = Path(preset.path) / model_json.MODEL_JSON_FILE
    check_head_settings(model_class, head_settings, model_json_file)
    text_engine = create_text_engine(
        engine, tokenizer, model_class, head_settings
    )
    head_settings["max_seq_length"] = text_engine.max_seq_length
    flags = preset.training_settings.get("flags", {})
    return ExportContents(
        head_settings=head_settings,
        columns=(flags.get("text_column"), flags.get("text_b_column")),
        text_engine=text_engine,
        text_task_of_name=create_text_tasks(model_class, head_settings),
    )


def _read_preset(folder: Path) -> Preset:
    """Reads the Preset of an export, with its settings.

    In the folder of a SavedModel, model.json and the vocabulary may be in the
    folder assets.extra.
    """
    extra = folder / "assets.extra"
    has_model_json = (folder / model_json.MODEL_JSON_FILE).is_file()
    if extra.is_dir() and not has_model_json:
        return read_preset(extra)
    return read_preset(folder)


def read_tokenizer(preset: Preset) -> FullTokenizer:
    """Reads the tokenizer of an export, and checks its vocabulary.

    Raises:
        OSError: the vocabulary cannot be read.
        ValueError: the model was trained with another vocabulary.
    """
    tokenizer = FullTokenizer(
        Path(preset.path) / "vocab.txt", preset.do_lower_case
    )
    tokenizer.vocabulary.check_tokens()
    recorded = preset.training_settings.get("tokenizer", {})
    if recorded.get("vocab") not in (None, tokenizer.identity["vocab"]):
        raise ValueError(
            f"{tokenizer.vocab_file} is not the vocabulary that "
            "the model was trained with. Export or copy the model again"
        )
    return tokenizer


def check_head_settings(
    model_class: ModelClass, head_settings: Mapping[str, object], file: Path
) -> None:
    """Checks that an export states all that its text tasks need.

    Args:
        model_class: class of the model, a key of TEXT_TASKS_OF_CLASS.
        head_settings: settings of the head, with its labels.
        file: path of model.json, for messages.

    Raises:
        ValueError: a setting is missing.
    """
    names = ["max_seq_length"]
    for text_task in TEXT_TASKS_OF_CLASS[model_class]:
        names += text_task.required_settings
    if head_settings.get("output_mode") == REGRESSION:
        # The output is a number, which needs no label.
        names = [name for name in names if name != "labels"]
    for name in names:
        if head_settings.get(name) is None:
            raise ValueError(
                f"{file}: `task` lacks `{name}`; export or copy the model again"
            )


def create_text_engine(
    engine: Engine,
    tokenizer: FullTokenizer,
    model_class: ModelClass,
    head_settings: HeadSettings,
) -> AnyTextEngine:
    """Returns a TextEngine whose inputs are as long as its engine accepts.

    Args:
        engine: engine that runs the network.
        tokenizer: tokenizer of the model.
        model_class: class of the model, a key of TEXT_TASKS_OF_CLASS.
        head_settings: settings of the head, which `check_head_settings` has
            checked. If the length of the engine's inputs is fixed,
            `max_seq_length` of the TextEngine and of its head is at most this
            length.

    Raises:
        ValueError: the inputs are too short for the windows of a span labeler.
    """
    fixed = engine.inputs["input_ids"][-1]
    max_seq_length = min(filter(None, (head_settings["max_seq_length"], fixed)))
    return TextEngine(
        engine=engine,
        tokenizer=tokenizer,
        max_seq_length=max_seq_length,
        # Google's script pads the windows of SQuAD, and padding is a candidate
        # for an answer.
        trims_padding=head_settings.get("trim_padding") is not False,
        head=parse_head(
            model_class, {**head_settings, "max_seq_length": max_seq_length}
        ),
    )


def parse_head(model_class: ModelClass, head_settings: HeadSettings) -> object:
    """Returns the settings of a model's head that its text tasks read.

    The main text task says what this is, such as a `ClassifierHead`. The other
    text tasks of the model read the same, or nothing.

    Args:
        model_class: class of the model, a key of TEXT_TASKS_OF_CLASS.
        head_settings: settings of the head, with its labels.
    """
    main, *_ = TEXT_TASKS_OF_CLASS[model_class]
    return main.parse_head(head_settings) if main.parse_head else None


def create_text_tasks(
    model_class: ModelClass, head_settings: HeadSettings
) -> dict[str, AnyTextTask]:
    """Creates the text tasks of a model, {name: text task}, the main one first.

    Args:
        model_class: class of the model, a key of TEXT_TASKS_OF_CLASS.
        head_settings: settings of the head, with its labels.
    """
    text_tasks = [*TEXT_TASKS_OF_CLASS[model_class], TOKENIZE]
    if not _may_rank(head_settings):
        text_tasks = [
            text_task for text_task in text_tasks if text_task is not RERANK
        ]
    return {
        text_task.name: _adapt_text_task(text_task, head_settings)
        for text_task in text_tasks
    }


def _may_rank(head_settings: HeadSettings) -> bool:
    """Returns whether a classifier can rank passages.

    A classifier of pairs ranks by its only output, or by the probability of the
    second of two labels.
    """
    if not _accepts_pairs(head_settings):
        return False
    output_mode = head_settings.get("output_mode")
    if output_mode == REGRESSION:
        return True
    has_two_labels = len(head_settings.get("labels") or ()) == 2
    return has_two_labels and output_mode != MULTILABEL


def _accepts_pairs(head_settings: HeadSettings) -> bool:
    """Returns whether a model may have been trained on pairs of texts.

    Models that read a text in windows read no pairs.
    """
    is_of_single_texts = head_settings.get("num_texts") == 1
    return not is_of_single_texts and not head_settings.get("doc_stride")


def _adapt_text_task(
    text_task: AnyTextTask, head_settings: HeadSettings
) -> AnyTextTask:
    """Returns a text task, or a copy of it for the texts of a model."""
    adapted = text_task
    if not _accepts_pairs(head_settings):
        adapted = without_pairs(adapted)
    if head_settings.get("doc_stride") and text_task is CLASSIFY:
        # The windows contain all of a text.
        adapted = dataclasses.replace(adapted, reads_all=True)
    return adapted
