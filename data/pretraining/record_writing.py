"""Writes the records of a corpus, as Google's script does or at scale."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from absl import logging

from data.io import tfrecord_files
from data.parallel_jobs.work_units import choose_unit_runner
from data.pretraining import instances
from data.pretraining.documents import DocumentReader, TextEncoder
from data.pretraining.pretraining_data_config import PretrainingDataConfig
from data.pretraining.sharded_writing import create_job_paths, write_all_shards
from data.text.casing import chosen_casing
from data.text.tokenizer_loading import load_tokenizer
from files.paths import absolute_path, is_remote
from options import config_values

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions


class WrittenRecords(NamedTuple):
    """The records of create_pretraining_data.py, as its log describes them.

    Attributes:
        num_instances: number of instances.
        num_files: number of the files that contain them.
        files: the files, as comma-separated paths or a pattern.
        is_new: whether this command wrote them, not an earlier one.
    """

    num_instances: int
    num_files: int
    files: str
    is_new: bool


def complete_casing(
    config: PretrainingDataConfig, *, is_casing_chosen: bool
) -> PretrainingDataConfig:
    """Returns the flags with the casing of the vocabulary.

    `is_casing_chosen` says whether the user set --do_lower_case. Otherwise the
    files beside the vocabulary may state another casing.

    Raises:
        ValueError: --do_lower_case contradicts a file beside the vocabulary.
        OSError: the vocabulary cannot be read.
    """
    options = config.instances
    casing = chosen_casing(
        options.do_lower_case, is_set_by_user=is_casing_chosen
    )
    tokenizer = load_tokenizer(options.vocab_file, casing)
    return config_values.with_groups(
        config,
        dataclasses.replace(options, do_lower_case=tokenizer.do_lower_case),
    )


def write_records_at_scale(
    config: PretrainingDataConfig,
    input_files: Sequence[str],
    beam_options: "PipelineOptions | None" = None,
) -> WrittenRecords:
    """Writes the instances in the scalable mode, to shards and a manifest.

    Args:
        config: the flags, with the casing of the vocabulary.
        input_files: paths of the text files.
        beam_options: options of a Beam pipeline, None to run in processes.

    Raises:
        ValueError: --output_file lists several files or is remote.
    """
    output_file = config.output_file
    if "," in output_file or is_remote(output_file):
        raise ValueError(
            f"--output_file={output_file} must be one local path with flags "
            "such as --num_processes (the scalable mode, see --help), because "
            "the script adds the numbers of the shards to it"
        )
    options = config.instances
    if beam_options is not None:
        # The workers of Beam may run in other folders.
        input_files = [*map(absolute_path, input_files)]
        output_file = absolute_path(output_file)
        vocab_file = absolute_path(options.vocab_file)
        options = dataclasses.replace(options, vocab_file=vocab_file)
    job = write_all_shards(
        options,
        input_files,
        output_file,
        config.num_shards or 0,
        choose_unit_runner(config.num_processes, beam_options),
    )
    job_paths = create_job_paths(output_file)
    logging.info("manifest: %s", job_paths.manifest_file)
    num_shards = len(job.manifest["shards"])
    return WrittenRecords(
        num_instances=job.manifest["corpus"]["num_instances"],
        num_files=num_shards,
        files=job_paths.pattern(num_shards),
        is_new=job.is_new,
    )


def write_records_in_order(
    config: PretrainingDataConfig, input_files: Sequence[str]
) -> WrittenRecords:
    """Writes the instances as Google's script does, record i to file i mod n.

    Args:
        config: the flags, with the casing of the vocabulary.
        input_files: paths of the text files.

    Raises:
        OSError: a file is missing or cannot be written.
        ValueError: the input contains no text.
    """
    reader = DocumentReader(TextEncoder(config.instances))
    output_files = config.output_file.split(",")
    # Open the output files first. If they cannot be written, the script fails
    # before it creates the instances.
    with tfrecord_files.RecordWriter(output_files) as writer:
        for record in instances.create_training_instances(
            input_files, reader, config.instances
        ):
            writer.write(record)
    return WrittenRecords(
        num_instances=writer.num_records,
        num_files=len(output_files),
        files=config.output_file,
        is_new=True,
    )
