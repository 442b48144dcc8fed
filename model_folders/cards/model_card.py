"""Writes model cards: the README.md of weights, of exports and of runs.

`Card` contains the values, and card.md.jinja contains the words. Every value
that the template shows is escaped by markdown.py, unless it is Markdown
already.
"""

import dataclasses
import fnmatch
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from model_folders import kinds
from model_folders.cards import markdown
from model_folders.cards.example_calls import (
    ExampleCall,
    choose_example,
    list_example_commands,
)
from model_folders.labels import LABELS_FILE
from model_folders.model_json import provenance_of, training_settings_of
from model_folders.model_json_types import (
    HeadSettings,
    ModelJson,
    Provenance,
    TrainingSettings,
)
from model_folders.scores import (
    DEV_RESULTS,
    EXPORT_RESULTS,
    list_missed_labels,
    overall_scores,
    split_by_label,
)

# File name of a model card.
CARD_FILE = "README.md"
# What a folder with a model card contains.
FolderType: TypeAlias = Literal["export", "weights", "huggingface", "run"]
EXPORT: Final = "export"
WEIGHTS: Final = "weights"
HUGGINGFACE: Final = "huggingface"
RUN: Final = "run"
# First line of the card of a run, by which a later command recognizes it.
_CARD_MARK = (
    "<!-- Written by this run. Remove this line to keep your changes. -->"
)
# {pattern of files in the folder of a run or an export: what they contain}
_PURPOSE_OF_FILES = {
    DEV_RESULTS: "the scores of the dev set",
    "test_eval_results*.txt": "the scores of the test set",
    "report*.html": "the examples that the model got wrong, the worst first",
    "*predictions*": "the examples with the model's answers",
    "test_results*.tsv": "the model's outputs for the test set",
    EXPORT_RESULTS: "the scores of each exported file",
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
    LABELS_FILE: "the labels, in the order of the model's outputs",
    "*config.json": "the sizes of the network, and the tokenizer's settings",
    "tokenizer.json": "the tokenizer, for other libraries",
    "model.json": "all flags and settings, which the scripts compare and read",
    "checkpoint": "the names of the checkpoints, for TensorFlow",
    "state": "records, TensorBoard's events and the lock of a running command",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Card:
    """The values that a model card states.

    Attributes:
        folder_type: EXPORT, WEIGHTS, HUGGINGFACE or RUN. The card of a
            HUGGINGFACE folder begins with the metadata that the hub reads.
        model_json: contents of the folder's model.json.
        labels: names of the outputs, in order. If None, the README.md lists no
            names.
        do_lower_case: whether text is lower-cased, or None if unknown.
        results: {name: score} of the model. If it is empty, the README.md shows
            no results.
        files: {name: bytes} of the files to list, {} while a RUN trains.
        export: folder of the exported model of a RUN, to show its use.
        table: name of the single table that a RUN was trained on, or None.
        networks: {"litert" or "onnx": file} of an EXPORT, the files that run
            without this project.
        precision: number format of the weights in `networks`.
        fixed_length: fixed length of the inputs of `networks`, in WordPieces.
            If None, `networks` accept any length.
        output: name of the output of `networks` with a value for each label.
            Heads without labels do not use it.
        export_scores: {format: {name: score}} of an EXPORT on the dev set.
        is_best_step: whether the dev set chose the step of an EXPORT. The
            model.json of a RUN states this itself.
    """

    folder_type: FolderType
    model_json: ModelJson
    labels: Sequence[str] | None = None
    do_lower_case: bool | None = None
    results: Mapping[str, float] = dataclasses.field(default_factory=dict)
    files: Mapping[str, int] = dataclasses.field(default_factory=dict)
    export: str | None = None
    table: str | None = None
    networks: Mapping[str, str] = dataclasses.field(default_factory=dict)
    precision: str = "float32"
    fixed_length: int | None = None
    output: str = ""
    export_scores: Mapping[str, Mapping[str, float]] = dataclasses.field(
        default_factory=dict
    )
    is_best_step: bool = False

    @property
    def head_settings(self) -> HeadSettings:
        """Settings of the head, and `name`, the class of the model."""
        return self.model_json.get("task", HeadSettings())

    @property
    def provenance(self) -> Provenance:
        """Where the weights are from."""
        return provenance_of(self.model_json)

    @property
    def settings(self) -> TrainingSettings:
        """Settings of the training and of the head."""
        return {**training_settings_of(self.model_json), **self.head_settings}

    @property
    def reports_best(self) -> bool:
        """Whether the scores belong to the step that the dev set chose."""
        # With --noload_best, a run reports its last step.
        is_best = self.model_json.get("best_step") and self.head_settings.get(
            "load_best", True
        )
        return self.is_best_step or bool(is_best)

    @property
    def folder(self) -> str | None:
        """Folder of the exported model, None if none is known."""
        return "FOLDER" if self.folder_type == EXPORT else self.export

    @property
    def example(self) -> ExampleCall | None:
        """A call of the model, None if it reads no texts."""
        return choose_example(self.settings)

    @property
    def commands(self) -> Sequence[str]:
        """Commands that ask the exported model."""
        return list_example_commands(self.settings, self.folder, self.table)

    @property
    def scores(self) -> Mapping[str, Mapping[str, float]]:
        """{heading: {name: score}} of the scores to show."""
        scores = {"Results": self.results} if self.results else {}
        for name, values in self.export_scores.items():
            scores[f"Scores of {name} on the dev set"] = values
        return scores

    @property
    def unscored_formats(self) -> Sequence[str]:
        """The files in `networks` that were not scored."""
        return [
            file
            for name, file in self.networks.items()
            if name not in self.export_scores
        ]

    @property
    def input_length(self) -> int:
        """The most WordPieces that `networks` read at a time."""
        max_seq_length = self.settings["max_seq_length"]
        return min(max_seq_length, self.fixed_length or max_seq_length)

    @property
    def training_command(self) -> str:
        """The command that trained the weights, over several lines."""
        command = self.provenance.get("command", {}).items()
        flags = [
            shlex.quote(f"--{name}={value}")
            for name, value in command
            if value is not None
        ]
        script = self.provenance.get("script")
        return " \\\n  ".join([f"python {script}", *flags])

    def file_rows(self) -> Iterator[tuple[Sequence[str], str, float]]:
        """Yields (names of files, what the files contain, their size in MB)."""
        for pattern, purpose in _PURPOSE_OF_FILES.items():
            if names := fnmatch.filter(self.files, pattern):
                num_mb = sum(self.files[name] for name in names) / 1e6
                short = dict.fromkeys(map(_checkpoint_of, names))
                yield [*short], markdown.Markdown(purpose), num_mb

    def text(self) -> str:
        """Returns the text of the card, in Markdown."""
        # Import late, because only commands that write models need it.
        import jinja2

        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(Path(__file__).parent),
            undefined=jinja2.StrictUndefined,
            finalize=markdown.format_text,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        environment.filters |= {
            "as_is": markdown.Markdown,
            "code": markdown.format_code,
            "code_in_cell": markdown.format_code_in_cell,
            "fenced": markdown.format_block,
            "literal": markdown.format_literal,
        }
        template = environment.get_template("card.md.jinja")
        return template.render(
            card=self,
            kinds=kinds.KIND_OF_CLASS,
            mark=markdown.Markdown(_CARD_MARK),
            list_missed_labels=list_missed_labels,
            overall_scores=overall_scores,
            split_by_label=split_by_label,
        )


def _checkpoint_of(file: str) -> str:
    """Returns the name under which a card lists a file.

    A checkpoint consists of several files, which are shown as one.
    """
    name, _, ending = file.rpartition(".")
    if ending == "index" or ending.startswith("data-"):
        return f"{name}.*"
    return file


def file_sizes(folder: os.PathLike[str]) -> dict[str, int]:
    """Returns {name: bytes} of the files and folders in a folder."""
    sizes = dict[str, int]()
    for path in sorted(Path(folder).iterdir()):
        parts = path.rglob("*") if path.is_dir() else [path]
        sizes[path.name] = sum(
            part.stat().st_size for part in parts if part.is_file()
        )
    return sizes


def is_own_card(path: os.PathLike[str]) -> bool:
    """Returns whether a run wrote a README.md, and may replace it."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.readline().strip() == _CARD_MARK
