"""Defines the flags of run_classifier.py, and what follows from them."""

import dataclasses
from typing import Literal, Self, TypeAlias, get_args

from data.classification.glue import glue_tasks
from data.classification.user_class import PROCESSOR_ENTRY
from data.classification.user_tables.table_columns import ColumnOptions
from data.classification.user_tables.table_tasks import (
    DEFINITION_OF_TABLE_TASK,
    TableTaskDefinition,
)
from model_folders.head_settings import classifier_settings_of
from model_folders.kinds import ModelClass
from model_folders.training_settings import TrainingSettings
from options import fields
from options.fields import PathType, group
from training.config.fine_tuning_config import DataFileConfig
from training.config.model_config import required_value

XnliLanguage: TypeAlias = Literal[
    "ar",
    "bg",
    "de",
    "el",
    "en",
    "es",
    "fr",
    "hi",
    "ru",
    "sw",
    "th",
    "tr",
    "ur",
    "vi",
    "zh",
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassifierOptions:
    """Flags for GLUE, text pairs, long texts and class weights."""

    doc_stride: int = fields.head_option(
        0,
        "Split a long text into windows of --max_seq_length that start this "
        "many WordPieces apart. 0 reads only the text's beginning, as Google's "
        "code does.",
        at_least=0,
    )
    contrastive_temperature: float = fields.training_option(
        0.05,
        "For --task_name=embedding and a table without scores: divide the "
        "cosines of a batch's texts by this number before the softmax.",
        at_least=1e-3,
    )
    xnli_language: XnliLanguage = fields.head_option(
        "zh",
        "Language of the texts of --task_name=xnli.",
        choices=get_args(XnliLanguage),
    )
    glue_submission: bool = fields.neutral_option(
        False,
        "Also write the predictions in the format of GLUE's site. Needs "
        "--do_predict.",
    )
    processor: str | None = fields.training_option(
        None,
        "FILE.py:CLASS, a class that reads the sets of --data_dir as a "
        "DataProcessor of Google's code does. Replaces --task_name. The code "
        "in the file runs, so only name a file that you trust.",
        path_type=PathType.CODE,
    )
    class_weights: Literal["balanced"] | None = fields.training_option(
        None,
        "Weights of the classes in the training loss. balanced gives every "
        "class the same total weight.",
        choices=("balanced",),
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassifierConfig(DataFileConfig):
    """Flags of run_classifier.py: Google's flags, and flags of this project."""

    columns: ColumnOptions = group(ColumnOptions)
    classifier: ClassifierOptions = group(ClassifierOptions)
    task_name: str | None = fields.head_option(
        None,
        "csv reads your own train, dev and test files (.csv, .tsv, .jsonl, "
        ".json, .xlsx or .parquet). embedding reads pairs of texts from such "
        "files, and ranking reads queries, passages and relevances. For a "
        "class of your own, set --processor.",
        choices=sorted(
            [*glue_tasks.DEFINITION_OF_TASK, *DEFINITION_OF_TABLE_TASK]
        ),
    )

    def with_implied_flags(self) -> Self:
        """Returns a copy with what --data_file and --processor imply."""
        implied = super().with_implied_flags()
        if not (self.data_file or self.classifier.processor):
            return implied
        # The class of --processor is predicted and exported like a user's own
        # tables.
        return dataclasses.replace(
            implied,
            task_name=self.task_name or "csv",
            # Embeddings have no report.
            report=implied.report and not self.is_embedding,
        )

    def check_early(self) -> None:
        """Also checks that only one flag names the task."""
        super().check_early()
        has_task = self.data_file or self.task_name not in (None, "csv")
        if self.classifier.processor and has_task:
            raise ValueError(
                "set either --processor, or --task_name, or --data_file"
            )

    @property
    def selected_task_name(self) -> str | None:
        """Name of the task, None if nothing has decided it."""
        return self.task_name

    @property
    def required_task_name(self) -> str:
        """Value of --task_name. The flag must be set."""
        return required_value(self.task_name)

    @property
    def table_task_definition(self) -> TableTaskDefinition | None:
        """What --task_name says of a user's tables, None for GLUE and XNLI."""
        return DEFINITION_OF_TABLE_TASK.get(self.task_name or "")

    @property
    def is_embedding(self) -> bool:
        """Whether the model computes vectors of texts."""
        definition = self.table_task_definition
        return definition is not None and definition.learns_vectors

    @property
    def model_class(self) -> ModelClass:
        """Name of the model class that --task_name selects."""
        if self.is_embedding:
            return ModelClass.EMBEDDER
        return ModelClass.CLASSIFIER

    @property
    def required_flags(self) -> tuple[str, ...]:
        """Flags that must be set unless the model's folder states them."""
        return (*super().required_flags, "task_name")

    def describe_missing(
        self, flag: str, training_settings: TrainingSettings
    ) -> str:
        """Returns the flags to set where a required flag is not set."""
        if flag != "task_name":
            return super().describe_missing(flag, training_settings)
        head = classifier_settings_of(training_settings.head)
        name = head.get(PROCESSOR_ENTRY)
        if name is not None:
            return f"--processor=FILE.py:{name}"
        return "--data_file (or --task_name and --data_dir)"

    def check(self, set_by_user: frozenset[str]) -> None:
        """Also checks the flags of embeddings and of GLUE's site."""
        super().check(set_by_user)
        if self.is_embedding and (self.fine_tuning.bilstm or self.report):
            raise ValueError("--bilstm and --report are not for embeddings")
        if self.classifier.glue_submission:
            glue_tasks.submission_file(self.required_task_name)
