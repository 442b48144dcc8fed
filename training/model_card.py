"""Formats the model.json and the model card (README.md) of saved weights.

The card shows the contents of model.json, the labels and the casing. It
contains no paths and no names of machines. This module imports no TensorFlow.
"""

import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

import modeling
from data.text.tokenization import FullTokenizer
from files import json_files
from modeling.steps import BEST
from training.model_folder import FILE, VERSION, ModelFolder, read
from training.results import read_results

# File name of a model card.
CARD = "README.md"
# Kinds of folders for which a model card is written.
EXPORT, WEIGHTS, HUGGINGFACE = "export", "weights", "huggingface"
# {class of the model: (purpose, Hugging Face's name of the task, example call
# of a method of serving.TextModel)}
_TASKS = {
    "BertClassifier": (
        "classifies a text, or a pair of texts",
        "text-classification",
        'classify("a text")',
    ),
    "BertEmbedder": (
        "computes a vector for a text",
        "feature-extraction",
        'embed("a text")',
    ),
    "BertModel": (
        "computes vectors for a text and its WordPieces",
        "feature-extraction",
        'embed("a text")',
    ),
    "BertMultipleChoice": (
        "chooses one of several endings of a text",
        "multiple-choice",
        "",
    ),
    "BertPretrainer": (
        "predicts masked words",
        "fill-mask",
        'fill_mask("The [MASK] is blue.")',
    ),
    "BertSpanLabeler": (
        "finds the answer to a question in a text",
        "question-answering",
        'answer("Who came?", "Ann came.")',
    ),
    "BertTokenClassifier": (
        "tags each word of a text",
        "token-classification",
        'tag("Ann lives in Bern.")',
    ),
}
# Used for a model class that the user wrote.
_OTHER = ("is of a class that this project does not define", "", "")
# {class of a model for which some versions of transformers provide no pipeline:
# class of transformers that loads the model}
_AUTO_CLASSES = {
    "BertMultipleChoice": "AutoModelForMultipleChoice",
    "BertSpanLabeler": "AutoModelForQuestionAnswering",
}


def describe_copy(
    path: str | None,
    model: Any,
    task: Mapping[str, Any] | None = None,
    step: int | None = None,
    changed: Sequence[str] = (),
    *,
    card: str,
    labels: Sequence[str] | None = None,
    tokenizer: FullTokenizer | None = None,
    results: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, str]:
    """Returns {file: text} of model.json and README.md for a copy of weights.

    Args:
        path: checkpoint or folder that the weights come from. None if the
            weights are random.
        model: the model that is copied or exported.
        task: {name: value} of entries that describe the head. They are added
            to the entries in the model.json at `path`.
        step: training step at which the weights were saved, None if unknown.
        changed: names of settings recorded at `path` that no longer apply to
            the copy.
        card: kind of the model card, as in `format_card`.
        labels: names of the outputs, in order. None = list no names.
        tokenizer: tokenizer of the model. None = do not state the casing.
        results: results of this command, as {name of a results file: its
            results}. None reads the results of the run at `path`.
    """
    folder = read(path) if path else ModelFolder("")
    values: dict[str, Any] = {"version": VERSION}
    if folder.description:
        values = json_files.read_json(folder.description)
    values.setdefault("origin", {})
    name = type(model).__name__
    is_same = folder.task.get("name") == name and not changed
    values["task"] = {**folder.task, "name": name, **(task or {})}
    values["task"].pop("architectures", None)
    settings = folder.settings
    values["origin"]["settings"] = {
        name: settings[name] for name in settings if name not in changed
    }
    if step is not None:
        values["origin"]["step"] = step
    if results is not None:
        values["evaluation"] = find_results(results, step or 0)
    elif path and is_same and (found := _read_results(path)):
        values["evaluation"] = found
    elif not is_same:
        values.pop("evaluation", None)
    # These scores are of an exported file, not of this copy.
    values.pop("export_evaluation", None)
    return {
        FILE: json_files.format_json(values, FILE, indent=2) + "\n",
        CARD: format_card(
            values,
            card,
            labels,
            tokenizer.do_lower_case if tokenizer else None,
            getattr(model, "num_labels", None),
        ),
    }


def format_card(
    description: Mapping[str, Any],
    kind: str,
    labels: Sequence[str] | None,
    do_lower_case: bool | None,
    num_labels: int | None = None,
) -> str:
    """Returns the text of a model card, in Markdown.

    Args:
        description: contents of the folder's model.json.
        kind: EXPORT, WEIGHTS or HUGGINGFACE. A HUGGINGFACE card begins with
            the metadata that the Hugging Face hub reads.
        labels: names of the outputs, in order. None = list no names.
        do_lower_case: whether text is lower-cased, or None if unknown.
        num_labels: number of a classifier's outputs, or None for other models.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["json"] = json.dumps
    task, origin = description["task"], description["origin"]
    settings = origin.get("settings", {})
    purpose, tag, call = _TASKS.get(task["name"], _OTHER)
    scores = description.get("evaluation", {}) | {
        f"dev, this folder's {form}": values
        for form, values in description.get("export_evaluation", {}).items()
    }
    arguments = ['modeling.load_config("FOLDER")']
    if num_labels:
        arguments.append(f"num_labels={num_labels}")
    for option in ("left_to_right", "bilstm"):
        if settings.get(option):
            arguments.append(f"{option}=True")
    versions = origin.get("versions", {})
    flags = [
        shlex.quote(f"--{name}={value}")
        for name, value in origin.get("command", {}).items()
        if value is not None
    ]
    return environment.get_template("model_card.jinja").render(
        kind=kind,
        task=task,
        origin=origin,
        name=" ".join(filter(None, (task["name"], task.get("task_name")))),
        data=task.get("task_name") or "unnamed",
        purpose=purpose,
        tag=tag,
        call=call,
        labels=labels,
        do_lower_case=do_lower_case,
        scores={name: values for name, values in scores.items() if values},
        auto_class=_AUTO_CLASSES.get(task["name"]),
        arguments=", ".join(arguments),
        versions=", ".join(f"{n} {v}" for n, v in versions.items()),
        command=" \\\n  ".join([f"python {origin.get('script')}", *flags]),
        files=[
            (name, entry)
            for name, entries in settings.items()
            if isinstance(entries, list)
            for entry in entries
            if isinstance(entry, list) and len(entry) == 3
        ],
    )


def find_results(
    results: Mapping[str, Mapping[str, Any]], step: int
) -> dict[str, dict[str, float]]:
    """Returns the scores of a step as {"dev" or "test": {score: value}}.

    Args:
        results: {name of a results file: its results}.
        step: number of the step that produced the weights.
    """
    found: dict[str, dict[str, float]] = {}
    for file, values in results.items():
        match = re.fullmatch(r"(test_)?eval_results(.*)\.txt", file)
        if match and values.get("global_step") == step:
            scores = found.setdefault("test" if match[1] else "dev", {})
            suffix = match[2]
            for name, value in values.items():
                is_score = name != "global_step"
                is_number = isinstance(value, (int, float))
                # JSON cannot express NaN.
                if is_score and is_number and math.isfinite(value):
                    scores[f"{name}{suffix}"] = float(value)
    return {split: scores for split, scores in found.items() if scores}


def _read_results(path: str) -> dict[str, dict[str, float]]:
    """Returns a checkpoint's scores, {} if they are unknown."""
    checkpoint = Path(modeling.find_checkpoint(path))
    step = re.fullmatch(r"model\.ckpt-(\d+)", checkpoint.name)
    folder = checkpoint.parent
    if folder.name == BEST:
        if (Path(path) / BEST).is_dir():
            # `path` is the folder of a run. It is unknown whether the command
            # copied the best step or, with --noload_best, the newest step.
            return {}
        folder = folder.parent
    if not step:
        return {}
    files = folder.glob("*eval_results*.txt")
    results = {file.name: read_results(file) for file in files}
    return find_results(results, int(step[1]))
