"""Lists the tasks of exported models. base.py defines a task."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from modeling.kinds import KINDS
from serving.tasks.answer import ANSWER
from serving.tasks.base import CLASSIFY, EMBED, TOKENIZE, TextTask
from serving.tasks.rerank import RERANK
from serving.tasks.tag import TAG
from serving.tasks.words import FILL_MASK, NEXT_SENTENCE

_BY_NAME = {
    task.name: task
    for task in (
        ANSWER,
        CLASSIFY,
        EMBED,
        FILL_MASK,
        NEXT_SENTENCE,
        RERANK,
        TAG,
    )
}
# {class of the model: tasks that the model supports, the main task first}.
TASKS: dict[str, tuple[TextTask, ...]] = {
    name: tuple(_BY_NAME[task] for task in kind.text_tasks)
    for name, kind in KINDS.items()
    if kind.text_tasks
}


def tasks_of(head: str, settings: Mapping[str, Any]) -> dict[str, TextTask]:
    """Returns {name: task} of the tasks of a model, the main task first.

    Args:
        head: class of the model, a key of TASKS.
        settings: settings of the head. `num_texts` is 1 if the model was
            trained on single texts.
    """
    tasks = {task.name: task for task in (*TASKS[head], TOKENIZE)}
    mode, labels = settings.get("output_mode"), settings.get("labels") or ()
    # Models that read a text in windows read no pairs either.
    is_single = settings["num_texts"] == 1 or settings.get("doc_stride", 0) > 0
    scores = mode == "regression" or (len(labels) == 2 and mode != "multilabel")
    if is_single or not scores:
        tasks.pop("rerank", None)
    for name in ("classify", "tokenize"):
        if is_single and name in tasks:
            tasks[name] = dataclasses.replace(
                tasks[name],
                fields={"text": True},
                other_names={"text": ["text_a"]},
            )
    return tasks
