"""Formats the model.json and the README.md (model card) of saved weights.

Both contain names and checksums of input files, but no folders, no names of
machines and no texts of examples. This module imports no TensorFlow.
"""

import fnmatch
import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from files.json_files import read_json
from modeling import hub, kinds, presets
from modeling.results import format_markdown

# File name of a model card.
CARD = "README.md"
# Kinds of folders for which a model card is written.
EXPORT, WEIGHTS, HUGGINGFACE = "export", "weights", "huggingface"
RUN = "run"
# First line of the card of a run, by which a later command recognizes it.
_MARK = "<!-- Written by this run. Remove this line to keep your changes. -->"
# {class of the model: title}
_MODELS = {
    kinds.CLASSIFIER: "A classifier of texts into labels",
    kinds.EMBEDDER: "An encoder of texts as vectors",
    kinds.ENCODER: "An encoder of texts and words as vectors",
    kinds.MULTIPLE_CHOICE: "A model that chooses the ending of a text",
    kinds.PRETRAINER: "A model of masked words",
    kinds.SPAN_LABELER: "A model that finds the answer to a question in a text",
    kinds.TOKEN_CLASSIFIER: "A tagger of words with labels",
}
# {class of the model: call of a model that `serving.load` returns}
_CALLS = {
    kinds.CLASSIFIER: 'classify("A text.")',
    kinds.EMBEDDER: 'embed("A text.")',
    kinds.ENCODER: 'embed("A text.")',
    kinds.PRETRAINER: 'fill_mask("The [MASK] is blue.")',
    kinds.SPAN_LABELER: 'answer("Who came?", "Ann came.")',
    kinds.TOKEN_CLASSIFIER: 'tag("Ann came.")',
}
# {pattern of files in the folder of a run or an export: what they contain}
_FILES = {
    "eval_results.txt": "the scores of the dev set",
    "test_eval_results*.txt": "the scores of the test set",
    "report*.html": "the examples that the model got wrong, the worst first",
    "*predictions*": "the examples with the model's answers",
    "test_results*.tsv": "the model's outputs for the test set",
    "export_eval_results.txt": "the scores of each exported file",
    "history.jsonl": "losses, scores and speed during the training",
    "best": "the weights of the best step, with the files that describe them",
    "model.ckpt-*": "the weights of the last steps",
    "saved_model.pb": "the network, for TensorFlow (`tf.saved_model.load`)",
    "variables": "the network's weights, for TensorFlow",
    "model.tflite": "the network with its weights, for LiteRT",
    "onnx": "the network with its weights, for ONNX Runtime",
    "assets": "empty, created by TensorFlow",
    "fingerprint.pb": "a checksum, created by TensorFlow",
    "assets.extra": "the vocabulary, the labels and the settings",
    "vocab.txt": "the vocabulary",
    "labels.txt": "the labels, in the order of the model's outputs",
    "*config.json": "the sizes of the network, and the tokenizer's settings",
    "tokenizer.json": "the tokenizer, for other libraries",
    "model.json": "all flags and settings, which the scripts compare and read",
    "checkpoint": "the names of the checkpoints, for TensorFlow",
    "state": "records, TensorBoard's events and the lock of a running command",
}


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
    files: Mapping[str, int] = {},
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
        files: {name: bytes} of the files to list in the card.
    """
    preset = presets.read(path) if path else presets.Preset("")
    values: dict[str, Any] = {"version": presets.VERSION}
    file = os.path.join(preset.path, presets.FILE)
    if os.path.isfile(file):
        values = read_json(file)
    name = kinds.kind_of(model)
    values["task"] = {**preset.settings, "name": name, **(settings or {})}
    origin = values.setdefault("origin", {})
    origin["settings"] = {
        k: v for k, v in preset.training.items() if k not in changed
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
        CARD: format_card(values, kind, labels, casing, results, files),
    }


def format_card(
    description: Mapping[str, Any],
    kind: str,
    labels: Sequence[str] | None = None,
    do_lower_case: bool | None = None,
    results: Mapping[str, float] | None = None,
    files: Mapping[str, int] = {},
    export: str | None = None,
    table: str | None = None,
) -> str:
    """Returns the text of a model card, in Markdown.

    Args:
        description: contents of the folder's model.json.
        kind: EXPORT, WEIGHTS, HUGGINGFACE or RUN.
        labels: names of the outputs, in order. None = list no names.
        do_lower_case: whether text is lower-cased, or None if unknown.
        results: {name: score}, None = show no results.
        files: {name: bytes} of the files to list, {} while a RUN trains.
        export: folder of the exported model of a RUN, to show its use.
        table: name of the single table that a RUN was trained on, or None.
    """
    task, origin = description["task"], description["origin"]
    settings = {**origin.get("settings", {}), **task}
    # The user may have written another class.
    title = _MODELS.get(task["name"], "A BERT model")
    if settings.get("output_mode") == "regression":
        title = "A model that scores texts"
    if settings.get("num_texts") == 2:
        title = title.replace("texts", "pairs of texts")
    if labels:
        title = title.replace("labels", f"{len(labels)} labels")
    for split, name, *_ in settings.get("data", ()):
        title += f", trained on {name}" * (split == "train")
    lines = []
    if kind == HUGGINGFACE:
        lines += ["---", "# license: fill in, such as apache-2.0"]
        tag = kinds.KINDS[task["name"]].pipeline_tag
        lines += ["library_name: transformers", f"pipeline_tag: {tag}"]
        lines += ["tags:", "- bert", "---", ""]
    lines += [_MARK] * (kind == RUN)
    lines += [f"# {title}", ""]
    is_unfinished = kind == RUN and not files
    if is_unfinished:
        lines += ["This run is unfinished. Run its command again.", ""]
    if results:
        lines += ["## Results", "", *format_markdown(results), ""]
    if results and description.get("best_step"):
        lines += ["The dev set chose the step: expect less on other data.", ""]
    export = "FOLDER" if kind == EXPORT else export
    commands = format_commands(settings, export, table)
    code = [] if is_unfinished else _format_code(kind, task["name"])
    if commands:
        code = ["import serving", f'bert = serving.load("{export}")']
        code.append(f"bert.{_find_call(settings)}")
    if commands or code:
        where = f", and `{table}` is your table" if table else ""
        where = f"`FOLDER` is the path of this folder{where}."
        if commands and kind == RUN:
            where += f" Hand on `{export}`, which is the exported model."
        if commands and kind == EXPORT:
            where += " Run the commands in a checkout of the project that wrote"
            where += " it, BERT for TensorFlow 2 and Keras 3."
        lines += ["## Use", "", where, ""]
    if commands:
        lines += ["```bash", *commands, "```", ""]
    if code:
        lines += ["```python", *code, "```", ""]
    if files:
        lines += ["## Files", "", *_format_files(kind, files), ""]
    lines += ["## Model", "", f"A BERT of class `{task['name']}`.", ""]
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
    lines += ["", "## Training", "", *_format_training(origin), ""]
    lines += ["## License", "", "Not stated yet: add your license here."]
    return "\n".join(lines) + "\n"


def file_sizes(folder: os.PathLike[str]) -> dict[str, int]:
    """Returns {name: bytes} of the files and folders in a folder."""
    sizes = dict[str, int]()
    for path in sorted(Path(folder).iterdir()):
        parts = path.rglob("*") if path.is_dir() else [path]
        sizes[path.name] = sum(x.stat().st_size for x in parts if x.is_file())
    return sizes


def _format_files(kind: str, files: Mapping[str, int]) -> list[str]:
    lines = ["| file | contents | MB |", "|---|---|---|"]
    for pattern, purpose in _FILES.items():
        if found := fnmatch.filter(files, pattern):
            short = [re.sub(r"\.(index|data-.*)$", ".*", x) for x in found]
            names = ", ".join(f"`{name}`" for name in dict.fromkeys(short))
            size = sum(files[name] for name in found) / 1e6
            shown = f"{size:.1f}" if size >= 0.05 else ""
            lines.append(f"| {names} | {purpose} | {shown} |")
    if kind == EXPORT:
        return [*lines, "", "This folder is complete: hand it on as it is."]
    lines += ["", "After the end of the run, you may delete `state`."]
    if "best" in files:
        lines += [
            "You may delete `model.ckpt-*` too, as `best` is the model. But"
        ]
        lines += ["then the run's command would train again from the start."]
    return lines


def is_own_card(path: os.PathLike[str]) -> bool:
    """Returns whether a run wrote a README.md, and may replace it."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.readline().strip() == _MARK


def format_commands(
    settings: Mapping[str, Any], export: str | None, table: str | None = None
) -> list[str]:
    """Returns commands that ask an exported model, [] if there is none.

    Args:
        settings: settings of the task, and `name`, the class of the model.
        export: folder of the export, or None.
        table: file that the model was trained on, if it is a single table.
    """
    call = _find_call(settings)
    if not (export and call):
        return []
    model = f"--model={shlex.quote(export)}"
    texts = " ".join(re.findall('".*?"', call))
    texts = "--task=rerank " * call.startswith("rerank") + texts
    lines = [f"python predict.py {model} {texts}"]
    is_tagger = settings["name"] == kinds.TOKEN_CLASSIFIER
    # Entities are lists, and columns of words and tags contain no texts.
    if table and (not is_tagger or table.endswith(".jsonl")):
        answers = f"answers.{'jsonl' if is_tagger else 'csv'}"
        files = f"--input_file={shlex.quote(table)} --output_file={answers}"
        lines.append(f"python predict.py {model} {files}")
    return [*lines, f"python serve.py {model}"]


def _find_call(settings: Mapping[str, Any]) -> str:
    # Returns a call with examples of texts, "" if the model reads no texts.
    if settings.get("task_name") == "ranking":
        return 'rerank("A query.", ["A passage.", "A second passage."])'
    call = _CALLS.get(settings["name"], "")
    if settings.get("num_texts") == 2:
        call = call.replace('fy("A text."', 'fy("A text.", "A second text."')
    return call


def _format_code(kind: str, name: str) -> list[str]:
    if kind == HUGGINGFACE:
        auto = kinds.KINDS[name].transformers_class
        return [
            f"from transformers import AutoTokenizer, {auto}",
            'tokenizer = AutoTokenizer.from_pretrained("FOLDER")',
            f'model = {auto}.from_pretrained("FOLDER")',
        ]
    if kind == EXPORT or name not in _MODELS:
        return []
    return ["import modeling", f'model = modeling.{name}.from_preset("FOLDER")']


def _format_training(origin: Mapping[str, Any]) -> list[str]:
    lines = [f"- From: {origin['weights']}"] if origin.get("weights") else []
    if not origin.get("script"):
        return [*lines, "How the weights were trained is not known."]
    lines += [f"- Step: {origin['step']}"] if origin.get("step") else []
    versions = [f"{k} {v}" for k, v in origin.get("versions", {}).items()]
    command = origin.get("command", {}).items()
    flags = [shlex.quote(f"--{k}={v}") for k, v in command if v is not None]
    lines += [f"- Versions: {', '.join(versions)}", ""]
    lines += ["Command, with the names of its files only:", "", "```bash"]
    lines += [" \\\n  ".join([f"python {origin['script']}", *flags]), "```"]
    if data := origin.get("settings", {}).get("data"):
        lines += [
            "",
            "| set | data | rows | file's checksum |",
            "|---|---|---|---|",
        ]
        lines += [f"| {' | '.join(map(str, entry))} |" for entry in data]
    return lines
