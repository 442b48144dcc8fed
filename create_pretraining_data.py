r"""Creates, from raw text, the TFRecords that run_pretraining.py reads.

    python create_pretraining_data.py --input_file=corpus.txt \
        --vocab_file=vocab.txt --output_file=pretraining.tfrecord

The input contains one sentence per line, and a blank line between documents. By
default the script writes the same instances in the same order as Google's
script, and keeps the corpus and all instances in memory. With --num_processes,
--num_shards, or any option that Google's script lacks, the script works in the
scalable mode: it splits the work among processes, which need little memory, and
writes files such as OUTPUT-00000-of-00008 and a manifest that lists them. The
contents of these files do not depend on the number of processes.
"""

import dataclasses
import functools
import gc
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from absl import logging

from command_line import cli, config_values, flags
from command_line.beam_flags import BeamFlags
from command_line.flags import flag, group
from command_line.path_flags import PathKind
from data.io import text_files, tfrecord_files
from data.jobs.sharded_job import choose_unit_runner
from data.pretraining import instances
from data.pretraining.documents import DocumentReader, TextEncoder
from data.pretraining.pretraining_job import write_all_shards
from data.pretraining.pretraining_options import InstanceOptions
from data.text import tokenizer_loading
from files.paths import absolute_path, is_remote

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(flags.Config):
    """Flags of the script: the corpus to read, and the records to write."""

    instances: InstanceOptions = group(InstanceOptions)
    beam: BeamFlags = group(BeamFlags)
    input_file: str = flag(
        ...,
        "Text files to read, as comma-separated paths or patterns. The files "
        "may be packed with gzip, bzip2, xz or zstd.",
        kind=PathKind.INPUT_FILES,
    )
    output_file: str = flag(
        ...,
        "TFRecord files to write, comma-separated.",
        kind=PathKind.OUTPUT_FILES,
    )
    num_processes: int | None = flag(
        None,
        "Number of processes that create the records. 0 = one for each "
        "processor.",
        at_least=0,
        at_most=1024,
    )
    num_shards: int | None = flag(
        None,
        "Number of TFRecord files to write. The default depends on the size of "
        "the corpus.",
        at_least=1,
        at_most=99_999,
    )

    @property
    def is_scalable(self) -> bool:
        """Whether a flag selects the scalable mode."""
        values = (
            self.num_processes,
            self.num_shards,
            self.beam.pipeline,
            self.instances.sentence_split,
        )
        is_any_set = any(value is not None for value in values)
        is_chosen = self.instances.dynamic_masking or is_any_set
        return is_chosen or self.instances.eval_fraction > 0


class WrittenRecords(NamedTuple):
    """The number of instances that the script wrote, and their files.

    Attributes:
        num_instances: number of instances.
        description: what was done with which files, in words for the log.
    """

    num_instances: int
    description: str


def create_at_scale(
    config: Config,
    input_files: Sequence[str],
    options: "PipelineOptions | None" = None,
) -> WrittenRecords:
    """Writes the instances in the scalable mode, to shards and a manifest.

    `options` are the options of a Beam pipeline, None to run in processes.

    Raises:
        ValueError: --output_file lists several files or is remote.
        OSError: a file is missing.
    """
    output_file = config.output_file
    if "," in output_file or is_remote(output_file):
        raise ValueError(
            f"--output_file={output_file} must be one local path with flags "
            "such as --num_processes (the scalable mode, see --help), because "
            "the script adds the numbers of the shards to it"
        )
    instance_options = config.instances
    if options is not None:
        # The workers of Beam may run in other folders.
        input_files = [*map(absolute_path, input_files)]
        output_file = absolute_path(output_file)
        instance_options = dataclasses.replace(
            instance_options,
            vocab_file=absolute_path(instance_options.vocab_file),
        )
    shards = write_all_shards(
        instance_options,
        input_files,
        output_file,
        config.num_shards or 0,
        choose_unit_runner(config.num_processes, options),
    )
    logging.info("manifest: %s.manifest.json", output_file)
    verb = "written to" if shards.is_new else "already written to"
    num_shards = len(shards.manifest["shards"])
    return WrittenRecords(
        shards.manifest["corpus"]["num_instances"],
        f"{verb} {num_shards} file(s), {output_file}-*-of-{num_shards:05d}",
    )


def create_in_order(
    config: Config, input_files: Sequence[str]
) -> WrittenRecords:
    """Writes the instances as Google's script does.

    Raises:
        OSError: a file is missing or cannot be written.
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
        writer.num_records,
        f"written to {len(output_files)} file(s), {config.output_file}",
    )


def complete_casing(parsed: flags.ParsedCommand[Config]) -> Config:
    """Returns the flags with the casing of the vocabulary.

    Raises:
        ValueError: --do_lower_case contradicts a file beside the vocabulary.
        OSError: the vocabulary cannot be read.
    """
    options = parsed.config.instances
    tokenizer = tokenizer_loading.load_tokenizer(
        options.vocab_file,
        options.do_lower_case,
        is_set_by_user="do_lower_case" in parsed.set_by_user,
    )
    return config_values.replace_values(
        parsed.config, do_lower_case=tokenizer.do_lower_case
    )


def main(parsed: flags.ParsedCommand[Config]) -> None:
    """Checks the flags, and writes the records for pretraining."""
    begin_time = time.monotonic()
    config = parsed.config
    beam_options = config.beam.parse(parsed.arguments, config.num_processes)
    input_files = text_files.expand_patterns(config.input_file, "input_file")
    config = complete_casing(parsed)
    config.instances.check_shares()
    if config.is_scalable:
        written = create_at_scale(config, input_files, beam_options)
    else:
        # Turn the garbage collector off until the script ends. It would search
        # many lists, for reference cycles that do not exist.
        gc.disable()
        written = create_in_order(config, input_files)
    print(
        f"{written.num_instances:,} instances from {len(input_files)} file(s) "
        f"{written.description}, in {time.monotonic() - begin_time:.1f} s"
    )


command = functools.partial(cli.run, main, Config, takes_beam_flags=True)

if __name__ == "__main__":
    command()
