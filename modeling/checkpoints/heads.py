"""What a model's folder says of its head: the task and the labels' order."""

import os
import re
from collections.abc import Collection, Sequence
from typing import Any

from absl import logging

from files.json_files import read_json
from files.labels import PROBLEM_TYPES
from files.run_files import AVERAGES, BEST
from modeling.checkpoints.huggingface import CLASSES
from modeling.checkpoints.huggingface.config import (
    CONFIG_FILE,
    read_architectures,
)

# transformers' class: ours.
ARCHITECTURES = {theirs: ours for ours, theirs in CLASSES.items()}
ARCHITECTURES["BertForMaskedLM"] = "BertPretrainer"
# Classes without a head for a task; None where it is unknown.
_HEADLESS = {None, "BertModel", "BertPretrainer"}


def read_task(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Returns what a folder says about the task of the model in it.

    That is in a run's model.json or run_settings.json, or in a Hugging Face
    config.json.

    Args:
        path: a checkpoint, or its folder.

    Returns:
        dict with those of "name", the class of the model here, "problem_type",
        a value of PROBLEM_TYPES, and "max_seq_length" that are known.

    Raises:
        ValueError: a file is not a JSON object, or not of that form.
    """
    folder = os.fspath(path)
    if not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    above = os.path.basename(os.path.normpath(folder)) in (BEST, AVERAGES)
    for place in (folder, *[os.path.join(folder, os.pardir)] * above):
        for name in ("model.json", "run_settings.json"):
            file = os.path.join(place, name)
            if not os.path.isfile(file):
                continue
            task = read_json(file)
            if name == "model.json":
                task = task.get("task") or {}
            elif "output_mode" in task:
                task["name"] = "BertClassifier"
            if mode := task.get("output_mode"):
                task.setdefault("problem_type", PROBLEM_TYPES.get(mode))
            return task
    config_file = os.path.join(folder, CONFIG_FILE)
    if not os.path.isfile(config_file):
        return {}
    names = read_architectures(config_file)
    return {
        "name": ARCHITECTURES.get(names[0]) if names else None,
        "problem_type": read_json(config_file).get("problem_type"),
    }


def check_head(
    path: str | os.PathLike[str], name: str | None, problem_type: str | None
) -> None:
    """Refuses to use another task's head as it is.

    A model that has none, and would answer at random, is not refused.

    Args:
        path: a checkpoint, or its folder.
        name: class of the model to load it into; None = unknown.
        problem_type: value of PROBLEM_TYPES; None if the task's own labels say
            it, so that a classifier of another type is only warned of.

    Raises:
        ValueError: the folder says that the head is of another class or type.
    """
    task = read_task(path)
    found, found_type = task.get("name"), task.get("problem_type")
    if found != name and not {found, name} & _HEADLESS:
        raise ValueError(
            f"{os.fspath(path)} is a {found}, and a {name} is needed: use it "
            "for its own task, or as the start of a training (--do_train)"
        )
    if name != "BertClassifier" or found_type in (None, problem_type):
        return
    message = f"{os.fspath(path)} has problem_type={found_type}"
    if problem_type:
        raise ValueError(
            f"{message}; received {problem_type}. Set --output_mode to what "
            "the model was trained for"
        )
    if found_type != PROBLEM_TYPES["classification"]:
        logging.warning("%s; it is used to choose one label each.", message)


def has_head(name: str, weights: Collection[str]) -> bool:
    """Returns whether weights, in either format, have those of a head.

    Args:
        name: class of the model.
        weights: names of the weights in a file.
    """
    names = {"output_weights", "classifier.weight"}
    if name == "BertSpanLabeler":
        names = {"cls/squad/output_weights", "qa_outputs.weight"}
    return not names.isdisjoint(weights)


def find_order(
    saved: Sequence[str], labels: Sequence[Sequence[str]]
) -> list[int] | None:
    """Returns the place of each label among the labels of a saved model.

    Names are compared as they are, then without case and punctuation.

    Args:
        saved: names of the saved model's outputs, in order.
        labels: see `load_checkpoint`.

    Returns:
        a permutation; None if the names are others.
    """
    for form in (str, _plain):
        places = {form(name): index for index, name in enumerate(saved)}
        for names in labels:
            wanted = [form(name) for name in names]
            if len(places) == len(saved) and sorted(wanted) == sorted(places):
                return [places[name] for name in wanted]
    return None


def _plain(label: str) -> str:
    return re.sub(r"[\W_]+", "_", label.casefold()).strip("_")
