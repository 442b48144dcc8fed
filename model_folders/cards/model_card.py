"""Writes model cards: the README.md of weights, of exports and of runs.

Each class contains the values of one kind of card, and its template in
templates/ contains the words. Every value that a template shows is escaped by
markdown.py, unless it is Markdown already.

A copy or an export of weights contains a model.json too, which says the same of
the original as its card. Both contain names and checksums of input files, but
no folders, no names of machines and no texts of examples.
"""

import abc
import copy
import dataclasses
import fnmatch
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, cast

from model_folders import kinds, model_json
from model_folders.cards import markdown
from model_folders.cards.example_calls import (
    ExampleCall,
    choose_example,
    list_example_commands,
)
from model_folders.labels import LABELS_FILE
from model_folders.model_json import (
    HeadSettings,
    ModelJson,
    Provenance,
    TrainingSettings,
    head_settings_of,
    provenance_of,
    training_settings_of,
)
from model_folders.reading import hub
from model_folders.reading.preset import Preset
from model_folders.scores import (
    DEV_RESULTS,
    EXPORT_RESULTS,
    list_missed_labels,
    overall_scores,
    split_by_label,
)

# File name of a model card.
CARD_FILE = "README.md"
# First line of the card of a run, by which a later command recognizes it.
_OWN_MARK = (
    "<!-- Written by this run. Remove this line to keep your changes. -->"
)
_TEMPLATE_FOLDER = Path(__file__).parent / "templates"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Card(abc.ABC):
    """The contents of every model card: the model, and how it was trained.

    Attributes:
        template: file of the card's words.
        model_json: contents of the folder's model.json.
        labels: names of the outputs, in order. If None, the card lists no
            names.
        do_lower_case: whether text is lower-cased, or None if unknown.
    """

    template: ClassVar[str]

    model_json: ModelJson
    labels: Sequence[str] | None = None
    do_lower_case: bool | None = None

    @property
    def head_settings(self) -> HeadSettings:
        """Settings of the head, and `name`, the class of the model."""
        return head_settings_of(self.model_json)

    @property
    def merged_head_settings(self) -> HeadSettings:
        """The head settings, with those that only the run's training states."""
        merged: TrainingSettings = {
            **training_settings_of(self.model_json),
            **self.head_settings,
        }
        return merged

    @property
    def model_class(self) -> str | None:
        """Class of the model, which may be a user's own, None if unknown."""
        return self.head_settings.get("name")

    @property
    def kind(self) -> kinds.ModelKind | None:
        """Kind of the model, None for a user's own class."""
        return kinds.kind_of(self.model_class)

    @property
    def provenance(self) -> Provenance:
        """Where the weights are from."""
        return provenance_of(self.model_json)

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

    def text(self) -> str:
        """Returns the text of the card, in Markdown."""
        # Import late, because only commands that write models need it.
        import jinja2

        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_TEMPLATE_FOLDER),
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
        environment.globals |= {
            "own_mark": markdown.Markdown(_OWN_MARK),
            "list_file_rows": list_file_rows,
            "list_missed_labels": list_missed_labels,
            "overall_scores": overall_scores,
            "split_by_label": split_by_label,
        }
        return environment.get_template(self.template).render(card=self)

    def create_copy_files(self) -> dict[str, str]:
        """Returns {file: text} of model.json and README.md of a copy.

        `model_json` is the result of `create_model_json_of_copy`.
        """
        return {
            model_json.MODEL_JSON_FILE: model_json.format_json(self.model_json),
            CARD_FILE: self.text(),
        }


@dataclasses.dataclass(frozen=True, kw_only=True)
class WeightsCard(Card):
    """The card of a copy of weights, which `from_preset` loads.

    Attributes:
        results: {name: score} of the model on the dev set. If it is empty, the
            card shows no results.
    """

    template = "weights_card.md.jinja"

    results: Mapping[str, float] = dataclasses.field(default_factory=dict)


class HuggingFaceCard(Card):
    """The card of weights in the format of transformers.

    It begins with the metadata that the Hugging Face hub reads.
    """

    template = "huggingface_card.md.jinja"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunCard(Card):
    """The card of a run.

    Attributes:
        results: {name: score} of the model on the dev set. If it is empty, the
            card shows no results.
        files: {name: bytes} of the run's files, {} until the run is finished.
        export: folder of the run's exported model, None if there is none.
        table: name of the single table that the run was trained on, or None.
    """

    template = "run_card.md.jinja"

    results: Mapping[str, float] = dataclasses.field(default_factory=dict)
    files: Mapping[str, int] = dataclasses.field(default_factory=dict)
    export: str | None = None
    table: str | None = None

    @property
    def reports_best(self) -> bool:
        """Whether the results belong to the step that the dev set chose."""
        # With --noload_best, a run reports its last step.
        return bool(
            self.model_json.get("best_step")
            and self.head_settings.get("load_best", True)
        )

    @property
    def example(self) -> ExampleCall | None:
        """A call of the exported model, None if it reads no texts."""
        return choose_example(self.merged_head_settings)

    @property
    def commands(self) -> Sequence[str]:
        """Commands that ask the exported model, [] if there is none."""
        return list_example_commands(
            self.merged_head_settings, self.export, self.table
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportCard(Card):
    """The card of an export.

    Attributes:
        files: {name: bytes} of the export's files.
        networks: {"litert" or "onnx": file}, the files that run without this
            project.
        precision: number format of the weights in `networks`.
        fixed_length: fixed length of the inputs of `networks`, in WordPieces.
            If None, `networks` accept any length.
        output: name of the output of `networks` with a value for each label.
            Heads without labels do not use it.
        scores_of_format: {format: {name: score}} on the dev set, {} if no
            format was scored.
        is_best_step: whether the dev set chose the step of the weights.
    """

    template = "export_card.md.jinja"

    files: Mapping[str, int]
    networks: Mapping[str, str]
    precision: str
    fixed_length: int | None
    output: str
    scores_of_format: Mapping[str, Mapping[str, float]] = dataclasses.field(
        default_factory=dict
    )
    is_best_step: bool = False

    @property
    def example(self) -> ExampleCall | None:
        """A call of the model, None if it reads no texts."""
        return choose_example(self.merged_head_settings)

    @property
    def commands(self) -> Sequence[str]:
        """Commands that ask the model, [] if it reads no texts."""
        return list_example_commands(self.merged_head_settings, "FOLDER")

    @property
    def unscored_files(self) -> Sequence[str]:
        """The files in `networks` that were not scored."""
        return [
            file
            for name, file in self.networks.items()
            if name not in self.scores_of_format
        ]

    @property
    def input_length(self) -> int:
        """The most WordPieces that `networks` read at a time."""
        max_seq_length = self.merged_head_settings["max_seq_length"]
        return min(max_seq_length, self.fixed_length or max_seq_length)


def is_own_card(path: os.PathLike[str]) -> bool:
    """Returns whether a run wrote a README.md, and may replace it."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.readline().strip() == _OWN_MARK


def create_model_json_of_copy(
    preset: Preset | None,
    model_class: str,
    head_settings: HeadSettings | None = None,
    *,
    step: int | None = None,
    changed: Sequence[str] = (),
) -> ModelJson:
    """Returns the contents of model.json for a copy or an export of weights.

    Args:
        preset: Preset of the folder that the weights come from. None if the
            weights are random.
        model_class: class of the model that is copied or exported.
        head_settings: settings of the head to add to those in `preset`.
        step: training step at which the weights were saved, None if unknown.
        changed: names of settings in `preset` that no longer apply to the
            copy.
    """
    preset = preset or Preset("")
    contents = copy.deepcopy(preset.model_json)
    contents = contents or {"version": model_json.VERSION}
    # A dict with only some entries of a TypedDict of settings is of this type
    # too.
    task_entry = {
        **preset.head_settings,
        "name": model_class,
        **(head_settings or {}),
    }
    contents[model_json.HEAD_SETTINGS] = cast("HeadSettings", task_entry)
    provenance = contents.setdefault(model_json.PROVENANCE, Provenance())
    kept = {
        name: value
        for name, value in preset.training_settings.items()
        if name not in changed
    }
    provenance["settings"] = cast("TrainingSettings", kept)
    if source := hub.hub_path_of(preset.path):
        provenance["weights"] = source
    if step is not None:
        provenance["step"] = step
    # These entries are about the files in the folder of `preset`.
    contents.pop("best_step", None)
    contents.pop("files", None)
    contents.pop(model_json.CHECKSUMS, None)
    return contents


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


def file_sizes(folder: os.PathLike[str]) -> dict[str, int]:
    """Returns {name: bytes} of the files and folders in a folder."""
    sizes = dict[str, int]()
    for path in sorted(Path(folder).iterdir()):
        parts = path.rglob("*") if path.is_dir() else [path]
        sizes[path.name] = sum(
            part.stat().st_size for part in parts if part.is_file()
        )
    return sizes


def list_file_rows(
    sizes: Mapping[str, int],
) -> Iterator[tuple[Sequence[str], str, float]]:
    """Yields (names of files, what the files contain, their size in MB).

    `sizes` is {name: bytes}. A file of unknown contents is in no row.
    """
    for pattern, purpose in _PURPOSE_OF_FILES.items():
        if names := fnmatch.filter(sizes, pattern):
            num_mb = sum(sizes[name] for name in names) / 1e6
            short = dict.fromkeys(map(_checkpoint_of, names))
            yield [*short], markdown.Markdown(purpose), num_mb


def _checkpoint_of(file: str) -> str:
    """Returns the name under which a card lists a file.

    A checkpoint consists of several files, which are shown as one.
    """
    name, _, ending = file.rpartition(".")
    if ending == "index" or ending.startswith("data-"):
        return f"{name}.*"
    return file
