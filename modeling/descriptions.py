"""Formats the model.json and the README.md (model card) of saved weights.

Both contain names and checksums of input files, but no folders, no names of
machines and no texts of examples. This module imports no TensorFlow.
"""

import fnmatch
import json
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from files.json_files import read_json
from files.results import format_markdown
from modeling import hub, presets
from modeling.config_files import CLASSES

# File name of a model card.
CARD = "README.md"
# Kinds of folders for which a model card is written.
EXPORT, WEIGHTS, HUGGINGFACE = "export", "weights", "huggingface"
RUN = "run"
# First line of the card of a run, by which a later command recognizes it.
_MARK = "<!-- Written by this run. Remove this line to keep your changes. -->"
# {class of the model: (purpose, Hugging Face's name of the task, call of
# serving.TextModel)}
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
# {pattern of files in a run's folder: what they contain}, in this order.
_FILES = {
    "eval_results.txt": "the scores of the dev set",
    "test_eval_results*.txt": "the scores of the test set",
    "export_eval_results.txt": "the scores of the exported files",
    "report*.html": "the examples that the model got wrong, the worst first",
    "*predictions*": "the model's answers",
    "test_results*.tsv": "the model's outputs for the test set",
    "history.jsonl": "losses, scores and speed while the run trained",
    "model.json": "the flags and settings of the run",
    "bert_config.json": "the sizes of the network",
    "vocab.txt": "the vocabulary",
    "tokenizer*.json": "the settings of the tokenizer",
    "labels.txt": "the labels, in the order of the model's outputs",
    "checkpoint": "the names of the checkpoints",
    "model.ckpt-*": "the weights after a step, and the optimizer's state",
    "best": "the weights of the best step",
    "state": "records, TensorBoard's events and the lock of a running command",
}
# Used for a model class that the user wrote.
_OTHER = ("is of a class that this project does not define", "", "")


def describe_copy(
    path: str | None,
    model: Any,
    kind: str,
    settings: Mapping[str, Any] | None = None,
    *,
    step: int | None = None,
    changed: Sequence[str] = (),
    labels: Sequence[str] | None = None,
    tokenizer: Any = None,
    results: Mapping[str, float] | None = None,
) -> dict[str, str]:
    """Returns {file: text} of model.json and README.md for a copy of weights.

    Args:
        path: checkpoint or folder that the weights come from. None if the
            weights are random.
        model: the model that is copied or exported.
        kind: EXPORT, WEIGHTS or HUGGINGFACE. A HUGGINGFACE card begins with
            the metadata that the Hugging Face hub reads.
        settings: settings of the head to add to the ones of `path`.
        step: training step at which the weights were saved, None if unknown.
        changed: names of settings recorded at `path` that no longer apply to
            the copy.
        labels: names of the outputs, in order. None = list no names.
        tokenizer: tokenizer of the model. None = do not state the casing.
        results: {name: score} to show in the card.
    """
    preset = presets.read(path) if path else presets.Preset("")
    values: dict[str, Any] = {"version": presets.VERSION}
    file = os.path.join(preset.path, presets.FILE)
    if os.path.isfile(file):
        values = read_json(file)
    name = type(model).__name__
    values["task"] = {**preset.settings, "name": name, **(settings or {})}
    origin = values.setdefault("origin", {})
    origin["settings"] = {
        name: preset.training[name]
        for name in preset.training
        if name not in changed
    }
    if source := hub.source_of(preset.path):
        origin["weights"] = source
    if step is not None:
        origin["step"] = step
    # These entries are about the files in the folder of a run.
    for entry in ("best_step", "files"):
        values.pop(entry, None)
    casing = tokenizer.do_lower_case if tokenizer else None
    return {
        presets.FILE: json.dumps(values, indent=2) + "\n",
        CARD: format_card(values, kind, labels, casing, results),
    }


def format_card(
    description: Mapping[str, Any],
    kind: str,
    labels: Sequence[str] | None = None,
    do_lower_case: bool | None = None,
    results: Mapping[str, float] | None = None,
    files: Sequence[str] = (),
) -> str:
    """Returns the text of a model card, in Markdown.

    Args:
        description: contents of the folder's model.json.
        kind: EXPORT, WEIGHTS, HUGGINGFACE or RUN.
        labels: names of the outputs, in order. None = list no names.
        do_lower_case: whether text is lower-cased, or None if unknown.
        results: {name: score}, None = show no results.
        files: names of the files in the folder of a RUN.
    """
    task, origin = description["task"], description["origin"]
    purpose, tag, _ = _TASKS.get(task["name"], _OTHER)
    lines = []
    if kind == HUGGINGFACE:
        lines += ["---", "# license: fill in, such as apache-2.0"]
        lines += ["library_name: transformers", f"pipeline_tag: {tag}"]
        lines += ["tags:", "- bert", "---", ""]
    names = (task["name"], task.get("task_name"))
    if kind == RUN:
        lines.append(_MARK)
    lines += [f"# {' '.join(filter(None, names))}", ""]
    lines += [f"This BERT model {purpose}.", ""]
    if labels:
        lines += ["Labels, in the order of the outputs:", ""]
        lines += [f"{index}. `{name}`" for index, name in enumerate(labels)]
        lines.append("")
    if mode := task.get("output_mode"):
        lines.append(f"- Kind of output: {mode}")
    if length := task.get("max_seq_length"):
        lines.append(f"- Longest input: {length} WordPieces")
    if do_lower_case is not None:
        kept = "lower-cased" if do_lower_case else "case is kept"
        lines.append(f"- Text: {kept}")
    if kind == RUN:
        lines += ["", "## Files", ""]
        for name, purpose in _FILES.items():
            if any(fnmatch.fnmatch(file, name) for file in files):
                lines.append(f"- `{name}`: {purpose}")
    if code := _format_code(kind, task["name"]):
        lines += ["", "## Use", "", "`FOLDER` is the path of this folder.", ""]
        lines += ["```python", *code, "```", ""]
    if results:
        lines += ["## Results", "", *format_markdown(results), ""]
    lines += ["## Training", "", *_format_training(origin), ""]
    lines += ["## License", "", "Not stated yet: add your license here."]
    return "\n".join(lines) + "\n"


def is_own_card(path: os.PathLike[str]) -> bool:
    """Returns whether a run wrote a README.md, and may replace it."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.readline().strip() == _MARK


def _format_code(kind: str, name: str) -> list[str]:
    *_, call = _TASKS.get(name, _OTHER)
    if kind == HUGGINGFACE:
        auto = CLASSES[name]
        return [
            f"from transformers import AutoTokenizer, {auto}",
            'tokenizer = AutoTokenizer.from_pretrained("FOLDER")',
            f'model = {auto}.from_pretrained("FOLDER")',
        ]
    if kind == EXPORT and call:
        return ["import serving", f'print(serving.load("FOLDER").{call})']
    if kind == EXPORT or name not in _TASKS:
        return []
    return ["import modeling", f'model = modeling.{name}.from_preset("FOLDER")']


def _format_training(origin: Mapping[str, Any]) -> list[str]:
    lines = [f"- From: {origin['weights']}"] if origin.get("weights") else []
    if not origin.get("script"):
        return [*lines, "How the weights were trained is not known."]
    lines += [f"- Step: {origin['step']}"] if origin.get("step") else []
    versions = origin.get("versions", {})
    versions = ", ".join(f"{name} {versions[name]}" for name in versions)
    flags = [
        shlex.quote(f"--{name}={value}")
        for name, value in origin.get("command", {}).items()
        if value is not None
    ]
    lines += [f"- Versions: {versions}", ""]
    lines += ["Command, with the names of its files only:", "", "```bash"]
    lines += [" \\\n  ".join([f"python {origin['script']}", *flags]), "```"]
    settings = origin.get("settings", {})
    names, rows = "set | data | rows", settings.get("data")
    if not rows:
        names = "data | file | bytes"
        rows = [
            (name, *entry)
            for name, entries in settings.items()
            if isinstance(entries, list)
            for entry in entries
            if isinstance(entry, list) and len(entry) == 3
        ]
    if rows:
        lines += ["", f"| {names} | checksum |", "|---|---|---|---|"]
        lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    return lines
