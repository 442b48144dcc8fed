"""Lists the text tasks, and says which of them a model supports."""

import dataclasses
import itertools
from collections.abc import Mapping
from pathlib import Path

from model_folders.kinds import KIND_OF_CLASS, ModelClass
from model_folders.model_json_types import HeadSettings
from serving.engines import exported_outputs
from serving.text_tasks.answer import ANSWER
from serving.text_tasks.classify import CLASSIFY, RERANK
from serving.text_tasks.embed import EMBED
from serving.text_tasks.pairs import check_single
from serving.text_tasks.pretrained import FILL_MASK, NEXT_SENTENCE
from serving.text_tasks.request_fields import Field
from serving.text_tasks.tag import TAG
from serving.text_tasks.text_task import AnyTextTask
from serving.text_tasks.tokenize import TOKENIZE

_TEXT_TASK_OF_NAME = {
    text_task.name: text_task
    for text_task in (
        ANSWER,
        CLASSIFY,
        EMBED,
        FILL_MASK,
        NEXT_SENTENCE,
        RERANK,
        TAG,
    )
}
# {class of the model: text tasks that the model supports, the main task first}.
TEXT_TASKS_OF_CLASS: dict[ModelClass, tuple[AnyTextTask, ...]] = {
    name: tuple(_TEXT_TASK_OF_NAME[task_name] for task_name in kind.text_tasks)
    for name, kind in KIND_OF_CLASS.items()
    if kind.text_tasks
}


def list_text_tasks() -> list[AnyTextTask]:
    """Returns the text tasks of all classes, and `tokenize` of any model."""
    text_tasks = [
        *itertools.chain.from_iterable(TEXT_TASKS_OF_CLASS.values()),
        TOKENIZE,
    ]
    # Several classes support the same task.
    return [*{text_task.name: text_task for text_task in text_tasks}.values()]


def create_text_tasks(
    model_class: ModelClass, settings: HeadSettings
) -> dict[str, AnyTextTask]:
    """Creates the text tasks of a model, {name: text task}, the main one first.

    Args:
        model_class: class of the model, a key of TEXT_TASKS_OF_CLASS.
        settings: settings of the head. `num_texts` is 1 if the model was
            trained on single texts.
    """
    text_tasks = {
        text_task.name: text_task
        for text_task in (*TEXT_TASKS_OF_CLASS[model_class], TOKENIZE)
    }
    # Models that read a text in windows read no pairs either.
    has_windows = settings.get("doc_stride", 0) > 0
    is_single = settings["num_texts"] == 1 or has_windows
    if is_single or not _may_rank(settings):
        text_tasks.pop("rerank", None)
    for name in ("classify", "tokenize"):
        if is_single and name in text_tasks:
            text_tasks[name] = dataclasses.replace(
                text_tasks[name],
                fields=[Field("text", aliases=("text_a",))],
                check_fields=check_single,
            )
    if has_windows and "classify" in text_tasks:
        classify = text_tasks["classify"]
        text_tasks["classify"] = dataclasses.replace(classify, reads_all=True)
    return text_tasks


def check_settings(
    model_class: ModelClass, settings: Mapping[str, object], file: Path
) -> None:
    """Checks that an export states all that its tasks need.

    Args:
        model_class: class of the model, a key of TEXT_TASKS_OF_CLASS.
        settings: settings of the head, with its labels.
        file: path of model.json, for messages.

    Raises:
        ValueError: a setting is missing.
    """
    names = ["max_seq_length"]
    for text_task in TEXT_TASKS_OF_CLASS[model_class]:
        names += text_task.required_settings
    if settings.get("output_mode") == exported_outputs.REGRESSION:
        # The output is a number, which needs no label.
        names = [name for name in names if name != "labels"]
    for name in names:
        if settings.get(name) is None:
            raise ValueError(
                f"{file}: `task` lacks `{name}`; export or copy the model again"
            )


def _may_rank(settings: HeadSettings) -> bool:
    """Returns whether a classifier can rank texts.

    A classifier ranks by its only output, or by the probability of the second
    of two labels.
    """
    mode = exported_outputs.output_mode_of(settings)
    if mode == exported_outputs.REGRESSION:
        return True
    labels = settings.get("labels") or ()
    return len(labels) == 2 and mode != exported_outputs.MULTILABEL
