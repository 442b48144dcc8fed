"""Writes model cards, what people read of weights, exports and runs: README.md.

Each class contains the values of one kind of card, and its template in
templates/ contains the words. Every value that a template shows is escaped by
markdown.py, unless it is Markdown already.

A card, and the model.json beside it, contain names and checksums of input
files, but no folders, no names of machines and no texts of examples.
"""

import abc
import dataclasses
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from model_folders import kinds, model_json
from model_folders.cards import markdown
from model_folders.cards.example_calls import (
    ExampleCall,
    choose_example,
    list_example_commands,
)
from model_folders.cards.file_table import list_file_rows
from model_folders.head_settings import HeadSettings, TaskEntry
from model_folders.model_json import (
    ModelJson,
    Provenance,
    head_settings_of,
    provenance_of,
    training_settings_of,
)
from model_folders.scores import Scores

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
        """Settings of the head, as model.json states them."""
        return head_settings_of(self.model_json)

    @property
    def merged_head_settings(self) -> HeadSettings:
        """The head settings, with those that only the run's training states."""
        return {
            **training_settings_of(self.model_json).head,
            **self.head_settings,
        }

    @property
    def model_class(self) -> str | None:
        """Class of the model, which may be a user's own, None if unknown."""
        return self.model_json.get("task", TaskEntry()).get("name")

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
        results: scores of the model on the dev set. If they are empty, the card
            shows no results.
    """

    template = "weights_card.md.jinja"

    results: Scores = dataclasses.field(default_factory=Scores)


class HuggingFaceCard(Card):
    """The card of weights in the format of transformers.

    It begins with the metadata that the Hugging Face hub reads.
    """

    template = "huggingface_card.md.jinja"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunCard(Card):
    """The card of a run.

    Attributes:
        results: scores of the model on the dev set. If they are empty, the card
            shows no results.
        files: {name: bytes} of the run's files, {} until the run is finished.
        export: folder of the run's exported model, None if there is none.
        table: name of the single table that the run was trained on, or None.
    """

    template = "run_card.md.jinja"

    results: Scores = dataclasses.field(default_factory=Scores)
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
        return choose_example(self.model_class, self.merged_head_settings)

    @property
    def commands(self) -> Sequence[str]:
        """Commands that ask the exported model, [] if there is none."""
        return list_example_commands(
            self.model_class, self.merged_head_settings, self.export, self.table
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
        scores_of_format: {format: its scores on the dev set}, {} if no format
            was scored.
        is_best_step: whether the dev set chose the step of the weights.
    """

    template = "export_card.md.jinja"

    files: Mapping[str, int]
    networks: Mapping[str, str]
    precision: str
    fixed_length: int | None
    output: str
    scores_of_format: Mapping[str, Scores] = dataclasses.field(
        default_factory=dict
    )
    is_best_step: bool = False

    @property
    def example(self) -> ExampleCall | None:
        """A call of the model, None if it reads no texts."""
        return choose_example(self.model_class, self.merged_head_settings)

    @property
    def commands(self) -> Sequence[str]:
        """Commands that ask the model, [] if it reads no texts."""
        return list_example_commands(
            self.model_class, self.merged_head_settings, "FOLDER"
        )

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
