"""Defines the flags of a classification task, and what follows from them."""

import dataclasses
from collections.abc import Mapping
from typing import Self

from command_line import config_values, flags
from command_line.flags import group
from data.classification.glue import glue_submissions, glue_tasks
from data.classification.table_tasks.table_options import TableOptions
from data.classification.table_tasks.table_task_specs import (
    TABLE_TASK_SPECS,
    TableTaskSpec,
)
from data.classification.task_selection.user_processor import PROCESSOR_ENTRY
from model_folders import kinds
from training.config.classifier_flags import ClassifierFlags
from training.config.fine_tuning_config import DataFileConfig


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassifierConfig(DataFileConfig):
    """Flags of run_classifier.py: Google's, and those of this project."""

    table: TableOptions = group(TableOptions)
    classifier: ClassifierFlags = group(ClassifierFlags)
    task_name: str | None = flags.head_flag(
        None,
        "csv reads your own train, dev and test files (.csv, .tsv, .jsonl, "
        ".json, .xlsx or .parquet). embedding reads pairs of texts from such "
        "files, and ranking reads queries, passages and relevances. For a "
        "class of your own, set --processor.",
        choices=sorted([*glue_tasks.SPEC_OF_TASK, *TABLE_TASK_SPECS]),
    )

    def prepare(self, set_by_user: frozenset[str]) -> Self:
        """Returns the flags, completed for --data_file or --processor.

        Raises:
            ValueError: two flags name the processor of the task, or flags
                contradict each other.
        """
        prepared = super().prepare(set_by_user)
        if not self.classifier.processor:
            return prepared
        if self.data_file or self.task_name not in (None, "csv"):
            raise ValueError(
                "set either --processor, or --task_name, or --data_file"
            )
        # The class of --processor is predicted and exported like a user's own
        # tables.
        return dataclasses.replace(prepared, task_name="csv")

    def with_data_file_defaults(self, set_by_user: frozenset[str]) -> Self:
        """Returns the flags with their defaults with --data_file."""
        return config_values.replace_unset_flags(
            super().with_data_file_defaults(set_by_user),
            set_by_user,
            ClassifierConfig,
            report=not self.is_embedding,
            task_name=self.task_name or "csv",
        )

    @property
    def required_task_name(self) -> str:
        """Value of --task_name. The flag must be set."""
        return config_values.required_value(self.task_name)

    @property
    def table_task_spec(self) -> TableTaskSpec | None:
        """What --task_name says of a user's tables, None for GLUE and XNLI."""
        return TABLE_TASK_SPECS.get(self.task_name or "")

    @property
    def is_embedding(self) -> bool:
        """Whether the model computes vectors of texts."""
        task_spec = self.table_task_spec
        return task_spec is not None and task_spec.loss_kind == "similarity"

    @property
    def model_class(self) -> kinds.ModelClass:
        """Name of the model class that --task_name selects."""
        return kinds.EMBEDDER if self.is_embedding else kinds.CLASSIFIER

    @property
    def required_flags(self) -> tuple[str, ...]:
        """Flags that must be set unless the model's folder states them."""
        return (*super().required_flags, "task_name")

    def describe_missing(
        self, flag: str, run_settings: Mapping[str, object]
    ) -> str:
        """Returns the flags to set where a required flag is not set."""
        if flag != "task_name":
            return super().describe_missing(flag, run_settings)
        name = run_settings.get(PROCESSOR_ENTRY)
        if name is not None:
            return f"--processor=FILE.py:{name}"
        return "--data_file (or --task_name and --data_dir)"

    def check(self, set_by_user: frozenset[str]) -> None:
        """Checks that the flags do not contradict each other.

        Raises:
            ValueError: flags contradict each other.
        """
        super().check(set_by_user)
        if self.is_embedding and (self.fine_tuning.bilstm or self.report):
            raise ValueError("--bilstm and --report are not for embeddings")
        if self.classifier.glue_submission:
            glue_submissions.submission_file(self.required_task_name)
