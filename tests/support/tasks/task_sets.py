"""Starts of tasks, and sets whose records no test reads.

For example:

    task = SwagTask(create_task_start(tmp_path), DEFAULT_LAYOUT)
    dev_set = create_set("dev", examples)
"""

from collections.abc import Sequence
from typing import Any

from data.io.record_datasets import Records
from files.paths import StrPath
from options.parsed_command import ParsedCommand
from tests.support.models import SMALL
from tests.support.tasks.toy_task import (
    create_flags,
    create_starting_point,
    load_tokenizer,
)
from training.config.classifier_config import ClassifierConfig
from training.config.fine_tuning_config import DataFileConfig, FineTuningConfig
from training.starting_point import InitialFolder, StartingPoint
from training.task import EncodedSet


def create_task_start(
    folder: StrPath, **flags: object
) -> StartingPoint[FineTuningConfig]:
    """Returns the start of a command that fine-tunes a network of one block."""
    config = DataFileConfig.from_values(
        **create_flags(folder, **flags),
    )
    return create_starting_point(config, SMALL, load_tokenizer())


def create_classifier_start(
    folder: StrPath, **flags: object
) -> StartingPoint[ClassifierConfig]:
    """Returns the start of run_classifier.py with a network of one block."""
    parsed = ParsedCommand(
        ClassifierConfig.from_values(**create_flags(folder, **flags))
    )
    return StartingPoint(
        parsed=parsed,
        initial_folder=InitialFolder(),
        bert_config=SMALL,
        tokenizer=load_tokenizer(),
    )


def create_set(
    name: str, examples: Sequence[Any], decoding_contexts: Sequence[Any] = ()
) -> EncodedSet[Any, Any]:
    """Returns a set of these examples, as a task's `compute_scores` gets it."""
    return EncodedSet(
        name=name,
        records=Records([], {}),
        num_examples=len(examples),
        num_records=len(decoding_contexts) or len(examples),
        checksum=0,
        examples=examples,
        decoding_contexts=decoding_contexts,
    )
