"""Formats the model.json and the README.md (model card) of saved weights.

Both contain names and checksums of input files, but no folders, no names of
machines and no texts of examples. This module imports no TensorFlow.
"""

import copy
import dataclasses
import fnmatch
import itertools
import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from modeling import hub, kinds, presets
from modeling.results import format_markdown
from modeling.tokenizer_files import Tokenizer

# File name of a model card.
CARD = "README.md"
# Kinds of folders for which a model card is written.
EXPORT = "export"
WEIGHTS = "weights"
HUGGINGFACE = "huggingface"
RUN = "run"
# First line of the card of a run, by which a later command recognizes it.
_MARK = "<!-- Written by this run. Remove this line to keep your changes. -->"
_UNFINISHED = "This run is unfinished. Run its command again."
# {class of the model: title}. {texts} and {labels} are filled in.
_TITLES = {
    kinds.CLASSIFIER: "A classifier of {texts} into {labels}",
    kinds.EMBEDDER: "An encoder of {texts} as vectors",
    kinds.ENCODER: "An encoder of {texts} and words as vectors",
    kinds.MULTIPLE_CHOICE: "A model that chooses the ending of a text",
    kinds.PRETRAINER: "A model of masked words",
    kinds.SPAN_LABELER: "A model that finds the answer to a question in a text",
    kinds.TOKEN_CLASSIFIER: "A tagger of words with {labels}",
}
_REGRESSION_TITLE = "A model that scores {texts}"


@dataclasses.dataclass(frozen=True)
class _Example:
    """A call of an exported model, with texts as a user may pass them.

    Attributes:
        method: method of the model that `serving.load` returns.
        texts: arguments of the method.
        passages: last argument of the method, a list of texts. () = none.
    """

    method: str
    texts: tuple[str, ...]
    passages: tuple[str, ...] = ()

    def as_python(self) -> str:
        """Returns the call in Python, such as `embed("A text.")`."""
        arguments = [f'"{text}"' for text in self.texts]
        if self.passages:
            passages = ", ".join(f'"{text}"' for text in self.passages)
            arguments.append(f"[{passages}]")
        return f"{self.method}({', '.join(arguments)})"

    def as_arguments(self) -> str:
        """Returns the arguments of predict.py for the same call."""
        arguments = [f'"{text}"' for text in (*self.texts, *self.passages)]
        if self.method == "rerank":
            # Without the flag, predict.py asks a classifier for labels.
            arguments.insert(0, "--task=rerank")
        return " ".join(arguments)


# {class of the model: its example}
_EXAMPLES = {
    kinds.CLASSIFIER: _Example("classify", ("A text.",)),
    kinds.EMBEDDER: _Example("embed", ("A text.",)),
    kinds.ENCODER: _Example("embed", ("A text.",)),
    kinds.PRETRAINER: _Example("fill_mask", ("The [MASK] is blue.",)),
    kinds.SPAN_LABELER: _Example("answer", ("Who came?", "Ann came.")),
    kinds.TOKEN_CLASSIFIER: _Example("tag", ("Ann came.",)),
}
_PAIR_EXAMPLE = _Example("classify", ("A text.", "A second text."))
_RANKING_EXAMPLE = _Example(
    "rerank", ("A query.",), ("A passage.", "A second passage.")
)
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
    preset: presets.Preset | None,
    model: object,
    kind: str,
    settings: Mapping[str, Any] | None = None,
    *,
    step: int | None = None,
    changed: Sequence[str] = (),
    labels: Sequence[str] | None = None,
    tokenizer: Tokenizer | None = None,
    results: Mapping[str, float] | None = None,
    files: Mapping[str, int] = {},
) -> dict[str, str]:
    """Returns {file: text} of model.json and README.md for a copy of weights.

    Args:
        preset: Preset of the folder that the weights come from. None if the
            weights are random.
        model: the model that is copied or exported.
        kind: EXPORT, WEIGHTS or HUGGINGFACE. A HUGGINGFACE card begins with
            the metadata that the Hugging Face hub reads.
        settings: settings of the head to add to the ones of `preset`.
        step: training step at which the weights were saved, None if unknown.
        changed: names of settings in `preset` that no longer apply to the
            copy.
        labels: names of the outputs, in order. None = list no names.
        tokenizer: tokenizer of the model. None = do not state the casing.
        results: {name: score} to show in the card.
        files: {name: bytes} of the files to list in the card.
    """
    preset = preset or presets.Preset("")
    values = copy.deepcopy(dict(preset.described))
    values = values or {"version": presets.VERSION}
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
        CARD: format_card(
            values,
            kind,
            labels=labels,
            do_lower_case=casing,
            results=results,
            files=files,
        ),
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
    task = description["task"]
    origin = description["origin"]
    settings = {**origin.get("settings", {}), **task}
    is_unfinished = kind == RUN and not files
    # With --noload_best, a run reports its last step.
    reports_best = bool(
        description.get("best_step") and task.get("load_best", True)
    )
    parts = [
        _format_metadata(task["name"]) if kind == HUGGINGFACE else [],
        [_MARK] if kind == RUN else [],
        [f"# {_format_title(settings, labels)}", ""],
        [_UNFINISHED, ""] if is_unfinished else [],
        _format_results(results, reports_best),
        _format_use(
            kind=kind,
            settings=settings,
            export="FOLDER" if kind == EXPORT else export,
            table=table,
            is_unfinished=is_unfinished,
        ),
        _format_files(kind, files, reports_best),
        _format_model(task, labels, do_lower_case),
        _format_training(origin),
        ["## License", "", "Not stated yet: add your license here."],
    ]
    return "\n".join(itertools.chain.from_iterable(parts)) + "\n"


def _format_metadata(name: str) -> list[str]:
    # What the Hugging Face hub reads.
    return [
        "---",
        "# license: fill in, such as apache-2.0",
        "library_name: transformers",
        f"pipeline_tag: {kinds.KINDS[name].pipeline_tag}",
        "tags:",
        "- bert",
        "---",
        "",
    ]


def _format_title(
    settings: Mapping[str, Any], labels: Sequence[str] | None
) -> str:
    # The user may have written another class.
    title = _TITLES.get(settings["name"], "A BERT model")
    if settings.get("output_mode") == "regression":
        title = _REGRESSION_TITLE
    is_pair = settings.get("num_texts") == 2
    title = title.format(
        texts="pairs of texts" if is_pair else "texts",
        labels=f"{len(labels)} labels" if labels else "labels",
    )
    for split, name, *_ in settings.get("data", ()):
        if split == "train":
            title += f", trained on {name}"
    return title


def _format_results(
    results: Mapping[str, float] | None, reports_best: bool
) -> list[str]:
    if not results:
        return []
    lines = ["## Results", "", *format_markdown(results), ""]
    if reports_best:
        lines += ["The dev set chose the step: expect less on other data.", ""]
    return lines


def file_sizes(folder: os.PathLike[str]) -> dict[str, int]:
    """Returns {name: bytes} of the files and folders in a folder."""
    sizes = dict[str, int]()
    for path in sorted(Path(folder).iterdir()):
        parts = path.rglob("*") if path.is_dir() else [path]
        sizes[path.name] = sum(x.stat().st_size for x in parts if x.is_file())
    return sizes


def _format_use(
    kind: str,
    settings: Mapping[str, Any],
    export: str | None,
    table: str | None,
    is_unfinished: bool,
) -> list[str]:
    commands = format_commands(settings, export, table)
    example = _find_example(settings)
    code = []
    if commands and example:
        code = [
            "import serving",
            f'bert = serving.load("{export}")',
            f"bert.{example.as_python()}",
        ]
    elif not is_unfinished:
        code = _format_code(kind, settings["name"])
    if not (commands or code):
        return []
    lines = ["## Use", ""]
    where = "`FOLDER` is the path of this folder"
    if table:
        where += f", and `{table}` is your table"
    where += "."
    if commands and kind == RUN:
        where += f" Hand on `{export}`, which is the exported model."
    if commands and kind == EXPORT:
        where += (
            " Run the commands in a checkout of the project that wrote it, "
            "BERT for TensorFlow 2 and Keras 3."
        )
    lines += [where, ""]
    if commands:
        lines += ["```bash", *commands, "```", ""]
    if code:
        lines += ["```python", *code, "```", ""]
    return lines


def _format_model(
    task: Mapping[str, Any],
    labels: Sequence[str] | None,
    do_lower_case: bool | None,
) -> list[str]:
    lines = ["## Model", "", f"A BERT of class `{task['name']}`.", ""]
    if labels:
        lines += ["Labels, in the order of the outputs:", ""]
        lines += [f"{index}. `{name}`" for index, name in enumerate(labels)]
        lines.append("")
    if mode := task.get("output_mode"):
        lines.append(f"- Kind of output: {mode}")
    if length := task.get("max_seq_length"):
        lines.append(f"- Longest input: {length} WordPieces")
    if do_lower_case is not None:
        case = "lower-cased" if do_lower_case else "case is kept"
        lines.append(f"- Text: {case}")
    return [*lines, ""]


def _format_files(
    kind: str, files: Mapping[str, int], reports_best: bool
) -> list[str]:
    if not files:
        return []
    lines = ["## Files", "", "| file | contents | MB |", "|---|---|---|"]
    for pattern, purpose in _FILES.items():
        if names := fnmatch.filter(files, pattern):
            lines.append(_format_row(names, purpose, files))
    lines.append("")
    if kind == EXPORT:
        return [*lines, "This folder is complete: hand it on as it is.", ""]
    lines.append("After the end of the run, you may delete `state`.")
    if "best" in files and reports_best:
        lines += [
            "You may delete `model.ckpt-*` too, as `best` is the model. But",
            "then the run's command would train again from the start.",
        ]
    return [*lines, ""]


def _format_row(
    names: Sequence[str], purpose: str, files: Mapping[str, int]
) -> str:
    # A checkpoint consists of several files, which are shown as one.
    short = [re.sub(r"\.(index|data-.*)$", ".*", name) for name in names]
    shown = ", ".join(f"`{name}`" for name in dict.fromkeys(short))
    num_mb = sum(files[name] for name in names) / 1e6
    size = f"{num_mb:.1f}" if num_mb >= 0.05 else ""
    return f"| {shown} | {purpose} | {size} |"


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
    example = _find_example(settings)
    if not (export and example):
        return []
    model = f"--model={shlex.quote(export)}"
    lines = [f"python predict.py {model} {example.as_arguments()}"]
    is_tagger = settings["name"] == kinds.TOKEN_CLASSIFIER
    # Entities are lists, and columns of words and tags contain no texts.
    if table and (not is_tagger or table.endswith(".jsonl")):
        answers = f"answers.{'jsonl' if is_tagger else 'csv'}"
        files = f"--input_file={shlex.quote(table)} --output_file={answers}"
        lines.append(f"python predict.py {model} {files}")
    return [*lines, f"python serve.py {model}"]


def _find_example(settings: Mapping[str, Any]) -> _Example | None:
    # Returns None if the model reads no texts.
    if settings.get("task_name") == "ranking":
        return _RANKING_EXAMPLE
    is_pair = settings.get("num_texts") == 2
    if is_pair and settings["name"] == kinds.CLASSIFIER:
        return _PAIR_EXAMPLE
    return _EXAMPLES.get(settings["name"])


def _format_code(kind: str, name: str) -> list[str]:
    if kind == HUGGINGFACE:
        auto = kinds.KINDS[name].transformers_class
        return [
            f"from transformers import AutoTokenizer, {auto}",
            'tokenizer = AutoTokenizer.from_pretrained("FOLDER")',
            f'model = {auto}.from_pretrained("FOLDER")',
        ]
    if kind == EXPORT or name not in _TITLES:
        return []
    return ["import modeling", f'model = modeling.{name}.from_preset("FOLDER")']


def _format_training(origin: Mapping[str, Any]) -> list[str]:
    lines = ["## Training", ""]
    if origin.get("weights"):
        lines.append(f"- From: {origin['weights']}")
    if not origin.get("script"):
        return [*lines, "How the weights were trained is not known.", ""]
    if origin.get("step"):
        lines.append(f"- Step: {origin['step']}")
    versions = [f"{k} {v}" for k, v in origin.get("versions", {}).items()]
    command = origin.get("command", {}).items()
    flags = [shlex.quote(f"--{k}={v}") for k, v in command if v is not None]
    lines += [
        f"- Versions: {', '.join(versions)}",
        "",
        "Command, with the names of its files only:",
        "",
        "```bash",
        " \\\n  ".join([f"python {origin['script']}", *flags]),
        "```",
    ]
    if data := origin.get("settings", {}).get("data"):
        lines += [
            "",
            "| set | data | rows | file's checksum |",
            "|---|---|---|---|",
        ]
        lines += [f"| {' | '.join(map(str, entry))} |" for entry in data]
    return [*lines, ""]
