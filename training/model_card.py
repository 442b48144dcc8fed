"""Writes the model card, README.md, of a folder that others will use.

The card shows the contents of model.json, the labels and the casing. It
contains no paths and no names of machines. This module imports no TensorFlow.
"""

import json
import math
import os
import re
import shlex
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import modeling
from files import json_files
from training.run_folder import BEST

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
# Some versions of transformers have no pipeline for these classes.
_WITHOUT_PIPELINE = {"BertForMultipleChoice", "BertForQuestionAnswering"}


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
    task, origin = description["task"], description["origin"]
    purpose, tag, _ = _TASKS.get(task["name"], _OTHER)
    name = " ".join(filter(None, (task["name"], task.get("task_name"))))
    scores = [*_list_scores(description)]
    lines = []
    if kind == HUGGINGFACE:
        lines += ["---", *_front_matter(name, tag, task, scores), "---", ""]
    lines += [f"# {name}", "", f"This BERT model {purpose}.", ""]
    if labels:
        lines += ["Labels, in the order of the outputs:", ""]
        lines += [f"{i}. `{label}`" for i, label in enumerate(labels)]
        lines += [""]
    if task.get("output_mode"):
        lines += [f"- Kind of output: {task['output_mode']}"]
    if task.get("max_seq_length"):
        lines += [f"- Longest input: {task['max_seq_length']} WordPieces"]
    if do_lower_case is not None:
        casing = "lower-cased" if do_lower_case else "case is kept"
        lines += [f"- Text: {casing}"]
    lines += ["", "## Use", "", "`FOLDER` is the path of this folder.", ""]
    lines += ["```python", *_usage(description, kind, num_labels), "```", ""]
    lines += ["## Results", ""]
    if scores:
        lines += ["| set | score | value |", "|---|---|---|"]
        lines += [f"| {split} | {key} | {v:.4g} |" for split, key, v in scores]
    else:
        lines += ["No results are known."]
    lines += ["", "## Training", "", *_training(origin)]
    lines += ["## License", "", "Not stated yet: add your license here.", ""]
    return "\n".join(lines)


def find_results(
    results: Mapping[str, Mapping[str, Any]], step: int
) -> dict[str, dict[str, float]]:
    """Returns the scores of a step as {"dev" or "test": {score: value}}.

    Args:
        results: {name of a results file: its results}, as in summary.json.
        step: number of the step that produced the weights.
    """
    found: dict[str, dict[str, float]] = {}
    for file, values in results.items():
        match = re.fullmatch(r"(test_)?eval_results(.*)\.txt", file)
        if match and values.get("global_step") == step:
            scores = found.setdefault("test" if match[1] else "dev", {})
            suffix = match[2]
            for name, value in values.items():
                is_score = name not in ("global_step", "best_run")
                is_number = isinstance(value, (int, float))
                # JSON cannot express NaN.
                if is_score and is_number and math.isfinite(value):
                    scores[f"{name}{suffix}"] = float(value)
    return {split: scores for split, scores in found.items() if scores}


def read_results(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Returns a checkpoint's scores, for the entry `evaluation` of model.json.

    Returns {} if the scores are unknown.

    Args:
        path: the checkpoint, or the folder of its run.

    Raises:
        OSError: a file cannot be read.
        ValueError: the path contains no checkpoint, or a file is damaged.
    """
    checkpoint = Path(modeling.find_checkpoint(path))
    step = re.fullmatch(r"model\.ckpt-(\d+)", checkpoint.name)
    folder = checkpoint.parent
    if folder.name == BEST:
        if (Path(path) / BEST).is_dir():
            # `path` is the folder of a run. With --noload_best, the command
            # uses the run's newest step, whose scores are unknown.
            return {}
        folder = folder.parent
    summary = folder / "summary.json"
    if not step or not summary.is_file():
        return {}
    results = json_files.read_json(summary).get("results") or {}
    return find_results(results, int(step[1]))


def _list_scores(
    description: Mapping[str, Any],
) -> Iterator[tuple[str, str, float]]:
    """Yields (name of the data, name of the score, value) from model.json."""
    for split, scores in description.get("evaluation", {}).items():
        for name, value in scores.items():
            yield split, name, value
    for form, scores in description.get("export_evaluation", {}).items():
        for name, value in scores.items():
            yield f"dev, this folder's {form}", name, value


def _front_matter(
    name: str,
    tag: str,
    task: Mapping[str, Any],
    scores: Sequence[tuple[str, str, float]],
) -> Iterator[str]:
    """Yields the lines of YAML that the Hugging Face hub reads."""
    yield "# license: fill in, such as apache-2.0"
    yield "library_name: transformers"
    yield f"pipeline_tag: {tag}"
    yield "tags:"
    yield "- bert"
    if not scores:
        return
    data = task.get("task_name") or "unnamed"
    yield "model-index:"
    yield f"- name: {json.dumps(name)}"
    yield "  results:"
    for part in dict.fromkeys(split for split, *_ in scores):
        yield "  - task:"
        yield f"      type: {tag}"
        yield "    dataset:"
        yield f"      name: {json.dumps(f'{data}, {part} set')}"
        yield f"      type: {json.dumps(data)}"
        yield f"      split: {json.dumps(part)}"
        yield "    metrics:"
        for split, key, value in scores:
            if split == part:
                yield f"    - type: {json.dumps(key)}"
                yield f"      value: {value:.6g}"


def _usage(
    description: Mapping[str, Any], kind: str, num_labels: int | None
) -> list[str]:
    """Returns lines of Python code that show how to use a model's folder."""
    task = description["task"]
    name = task["name"]
    _, tag, call = _TASKS.get(name, _OTHER)
    if kind == HUGGINGFACE:
        their_class = modeling.huggingface.config.CLASSES[name]
        if their_class in _WITHOUT_PIPELINE:
            auto = their_class.replace("BertFor", "AutoModelFor")
            return [
                f"from transformers import AutoTokenizer, {auto}",
                'tokenizer = AutoTokenizer.from_pretrained("FOLDER")',
                f'model = {auto}.from_pretrained("FOLDER")',
            ]
        text = "The [MASK] is blue." if tag == "fill-mask" else "a text"
        return [
            "from transformers import pipeline",
            f'print(pipeline("{tag}", model="FOLDER")("{text}"))',
        ]
    if kind == WEIGHTS and name not in _TASKS:
        return ["import modeling", 'print(modeling.read_shapes("FOLDER"))']
    if kind == WEIGHTS:
        settings = description["origin"].get("settings", {})
        options = [
            f"{option}=True"
            for option in ("left_to_right", "bilstm")
            if settings.get(option)
        ]
        if num_labels:
            options.insert(0, f"num_labels={num_labels}")
        arguments = ", ".join(['modeling.load_config("FOLDER")', *options])
        return [
            "import modeling",
            f"model = modeling.{name}({arguments})",
            'modeling.load_checkpoint(model, "FOLDER")',
        ]
    if not call:
        return [
            "from pathlib import Path",
            "from serving import engines",
            'print(engines.open_engine(Path("FOLDER")).inputs)',
        ]
    segmenter = task.get("segmenter")
    more = f", segmenter={segmenter!r}" if segmenter else ""
    return [
        "import serving",
        f'print(serving.load("FOLDER"{more}).{call})',
    ]


def _training(origin: Mapping[str, Any]) -> Iterator[str]:
    settings = origin.get("settings", {})
    if "script" not in origin:
        yield from ("How the weights were trained is not known.", "")
        return
    if origin.get("step"):
        yield f"- Step: {origin['step']}"
    versions = origin.get("versions", {})
    yield "- Versions: " + ", ".join(f"{n} {v}" for n, v in versions.items())
    # Earlier versions of this project recorded only the training flags, and no
    # `command`.
    flags = origin.get("command") or settings.get("flags", {})
    command = [
        f"python {origin['script']}",
        *(
            shlex.quote(f"--{name}={_base_name(value)}")
            for name, value in flags.items()
            if value is not None
        ),
    ]
    yield from ("", "Command, with the names of its files only:", "")
    yield from ("```bash", " \\\n  ".join(command), "```", "")
    files = [
        f"| {name} | {_base_name(file)} | {size} | {checksum} |"
        for name, entries in settings.items()
        if isinstance(entries, list)
        for entry in entries
        if isinstance(entry, list) and len(entry) == 3
        for file, size, checksum in [entry]
    ]
    if files:
        yield from ("| data | file | bytes | checksum |", "|---|---|---|---|")
        yield from (*files, "")


def _base_name(value: Any) -> Any:
    """Returns the last part of a path or URL. Other values do not change."""
    if not isinstance(value, str) or not re.match(r"[/~.]|\w+://", value):
        return value
    # Use only the path of a URL, which excludes the host and the bucket.
    return os.path.basename(urllib.parse.urlsplit(value).path.rstrip("/"))
