"""Defines and checks the flags that are specific to run_classifier.py."""

import collections
import dataclasses
import os
from collections.abc import Iterable, Sequence
from typing import Any

from absl import logging

from data.classification import features, glue
from data.classification.examples import InputExample
from data.classification.table_task import TableOptions
from data.classification.windows import WindowOptions
from files import flags, json_files

BALANCED = "balanced"
# Range of valid class weights. Within this range, the loss and its gradient are
# finite in float32.
_SMALLEST, _LARGEST = 1e-6, 1e6


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassifierOptions(TableOptions, WindowOptions):
    """Flags for GLUE, text pairs, class weights, decoding and HTML reports."""

    contrastive_temperature: float = flags.training(
        0.05,
        "For --task_name=embedding and a table without scores: divide the "
        "cosines of a batch's texts by this number before the softmax.",
        at_least=1e-3,
    )
    xnli_language: str = flags.head(
        "zh",
        "Language of the texts of --task_name=xnli.",
        choices=features.XnliProcessor.languages,
    )
    glue_submission: bool = flags.neutral(
        False,
        "Also write the predictions in the format of GLUE's site. Needs "
        "--do_predict.",
    )
    class_weights: str | None = flags.training(
        None,
        "Weights of the classes in the training loss. Either balanced, for the "
        "same total weight of every class, or the path of a JSON file, "
        '{"label": weight}.',
    )
    report: bool = flags.neutral(
        False,
        "Write report.html about the dev set. It counts what is right "
        "and wrong, and shows the worst predictions first.",
    )
    tune_thresholds: bool = flags.decoding(
        False,
        "With --output_mode=multilabel, a text gets a label if the label's "
        "probability is above a threshold. Choose the threshold with the best "
        "F1 on the dev set for each label, instead of 0.5. The export stores "
        "the thresholds. Needs --do_eval.",
    )
    calibrate: bool = flags.decoding(
        False,
        "Divide the logits by a temperature that is fitted to the dev set, so "
        "that probabilities match how often the predictions are right. The "
        "export stores the temperature. Needs --do_eval.",
    )


def check(options: Any) -> None:
    """Checks that the flags of run_classifier.py do not contradict each other.

    Raises:
        ValueError: two flags contradict each other. The message names them.
    """
    name, given = options.task_name, options.given_flags
    size = options.max_seq_length - 2
    if options.doc_stride > size:
        raise ValueError(
            f"--doc_stride={options.doc_stride} would skip WordPieces, because "
            f"a window of --max_seq_length={options.max_seq_length} fits only "
            f"{size} WordPieces of a text; set --doc_stride to at "
            f"most {size}, such as {size // 2 or 1}"
        )
    if "window_pooling" in given and not options.doc_stride:
        raise ValueError(
            f"--window_pooling={options.window_pooling} needs --doc_stride"
        )
    if options.glue_submission:
        glue.submission_file(name)
        if not options.do_predict:
            raise ValueError("--glue_submission needs --do_predict")
    unused: list[str] = []
    if name == "embedding":
        unused += ["report", "class_weights", "doc_stride", "tune_thresholds"]
        unused += ["calibrate", "bilstm"]
    found = [flag for flag in unused if getattr(options, flag)]
    if name in ("embedding", "ranking"):
        found += ["labels"] * ("labels" in given)
        if given.get("output_mode", "regression") != "regression":
            found.append("output_mode")
    elif name != "csv":
        # GLUE and XNLI define their columns and labels. No flag can set them.
        columns = [field.name for field in dataclasses.fields(TableOptions)]
        columns.remove("output_mode")
        found += [flag for flag in columns if flag in given]
    if found:
        raise ValueError(
            f"--{found[0]} is not used by --task_name={name}; remove the flag"
        )
    for flag in ("report", "tune_thresholds", "calibrate"):
        if getattr(options, flag) and not options.do_eval:
            raise ValueError(f"--{flag} needs --do_eval")


def check_mode(options: ClassifierOptions, output_mode: str) -> None:
    """Checks that the flags work with the task's kind of labels.

    Args:
        options: the flags of run_classifier.py.
        output_mode: "classification", "multilabel" or "regression".

    Raises:
        ValueError: a flag does not work with `output_mode`, or
            --class_weights is empty.
        OSError: --class_weights names a file that does not exist.
    """
    mode = getattr(options, "given_flags", {}).get("output_mode", output_mode)
    if mode != output_mode:
        raise ValueError(
            f"--output_mode={mode} does not fit this task, whose output mode "
            f"is {output_mode}; remove the flag, or set --task_name=csv"
        )
    if options.tune_thresholds and output_mode != "multilabel":
        raise ValueError(
            "--tune_thresholds needs --output_mode=multilabel (any number of "
            f"labels for each text). Received: {output_mode}"
        )
    if options.calibrate and output_mode == "regression":
        raise ValueError(
            "--calibrate does not work with regression; remove the flag"
        )
    takes_largest = options.doc_stride and options.window_pooling == "max"
    if options.calibrate and output_mode == "classification" and takes_largest:
        raise ValueError("--calibrate needs --window_pooling=mean")
    weights = options.class_weights
    if weights is None:
        return
    if not weights.strip():
        raise ValueError(
            "--class_weights= is empty (was a shell variable not set?). Set it "
            f"to {BALANCED} or to a file, or remove the flag"
        )
    if output_mode != "classification":
        raise ValueError(
            "--class_weights needs --output_mode=classification. Remove the "
            f"flag. Received: {output_mode}"
        )
    if weights != BALANCED and not os.path.isfile(weights):
        raise FileNotFoundError(
            f"--class_weights={weights} is neither {BALANCED} nor an existing "
            "file. Use one of them"
        )


def create_class_weights(
    setting: str, labels: Sequence[str], examples: Iterable[InputExample]
) -> dict[str, float]:
    """Computes balanced class weights, or reads weights from a JSON file.

    The balanced weight of a class with n examples is N / (L * n), for N
    examples and L labels in total. So the weights of the examples of each class
    add up to N / L.

    Args:
        setting: BALANCED, or the path of the JSON file.
        labels: names of the labels.
        examples: the training examples.

    Returns:
        {label: weight}.

    Raises:
        ValueError: the file's JSON is not {"label": weight}, a label is missing
            or unknown, or a weight is not between 1e-6 and 1e6.
        OSError: the JSON file cannot be read.
    """
    if setting == BALANCED:
        counts = collections.Counter(example.label for example in examples)
        weights = {
            name: counts.total() / (len(labels) * max(counts[name], 1))
            for name in labels
        }
    else:
        found = json_files.read_json(setting)
        if found.keys() != {*labels}:
            raise ValueError(
                f"{setting} must contain a weight for each of the labels "
                f"{list(labels)}. Received weights for: {list(found)}"
            )
        for name, weight in found.items():
            is_number = type(weight) in (int, float)
            if not is_number or not _SMALLEST <= weight <= _LARGEST:
                raise ValueError(
                    f"{setting}: the weight of {name!r} must be a number from "
                    f"1e-6 to 1e6. Received: {repr(weight)[:80]}"
                )
        weights = {name: float(found[name]) for name in labels}
    logging.info("Class weights: %s", weights)
    return weights
