"""Lists the text tasks, and which of them a model supports.

This depends on the class of the model, and on the settings of its head.
"""

import dataclasses
import itertools
from pathlib import Path
from typing import Final, TypeAlias

from model_folders.head_settings import HeadSettings, output_mode_of
from model_folders.kinds import ModelClass
from model_folders.output_modes import MULTILABEL, REGRESSION
from serving.text_tasks.answer import ANSWER, SpanLabelerHead
from serving.text_tasks.classify import CLASSIFY, RERANK, ClassifierHead
from serving.text_tasks.embed import EMBED
from serving.text_tasks.pretrained import FILL_MASK, NEXT_SENTENCE
from serving.text_tasks.tag import TAG, TokenClassifierHead
from serving.text_tasks.text_task import AnyTextTask
from serving.text_tasks.tokenize import TOKENIZE, without_pairs

# What the text tasks of a model read of the settings of its head.
Head: TypeAlias = ClassifierHead | SpanLabelerHead | TokenClassifierHead
# {class of the model: text tasks that the model supports, the main task first}.
# Other models read only ids. An embedder is exported as its encoder. The help
# of --task lists the tasks in this order.
TEXT_TASKS_OF_CLASS: Final[dict[ModelClass, tuple[AnyTextTask, ...]]] = {
    ModelClass.PRETRAINER: (FILL_MASK, NEXT_SENTENCE),
    ModelClass.CLASSIFIER: (CLASSIFY, RERANK),
    ModelClass.SPAN_LABELER: (ANSWER,),
    ModelClass.TOKEN_CLASSIFIER: (TAG,),
    ModelClass.ENCODER: (EMBED,),
}


def list_text_tasks() -> list[AnyTextTask]:
    """Returns the text tasks of all classes, and `tokenize` of any model."""
    text_tasks = [
        *itertools.chain.from_iterable(TEXT_TASKS_OF_CLASS.values()),
        TOKENIZE,
    ]
    # Several classes support the same text task.
    return [*{text_task.name: text_task for text_task in text_tasks}.values()]


def check_head_settings(
    model_class: ModelClass, head_settings: HeadSettings, file: Path
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
    if output_mode_of(head_settings) == REGRESSION:
        # The output is a number, which needs no label.
        names = [name for name in names if name != "labels"]
    for name in names:
        if head_settings.get(name) is None:
            raise ValueError(
                f"{file}: `task` lacks `{name}`; export or copy the model again"
            )


def parse_head(
    model_class: ModelClass, head_settings: HeadSettings
) -> Head | None:
    """Returns the settings of a model's head that its text tasks read.

    The main text task parses them, and the other text tasks of the model read
    the same, or nothing. The result is None if the main text task reads none.

    Args:
        model_class: class of the model, a key of TEXT_TASKS_OF_CLASS.
        head_settings: settings of the head, with its labels.
    """
    main, *_ = TEXT_TASKS_OF_CLASS[model_class]
    if main.parse_head is None:
        return None
    head: Head = main.parse_head(head_settings)
    return head


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
    output_mode = output_mode_of(head_settings)
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
