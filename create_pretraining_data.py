"""Makes the TFRecords that run_pretraining.py reads, from raw text.

    python create_pretraining_data.py --input_file=corpus.txt \
        --vocab_file=vocab.txt --output_file=pretraining.tfrecord

The input has one sentence a line and a blank line between documents. By
default the instances, and their order, are those of the original script,
which holds the corpus and all instances in memory. With --num_processes or
--num_shards, or any option that the original does not have, the work is split
among processes and needs little memory. The output, OUTPUT-00000-of-00008 and
so on with a manifest, is the same for any number of processes.
"""

import functools
import gc
import time
from collections.abc import Mapping, Sequence
from typing import Any

from absl import flags, logging

from data.io import records, text_files, workers
from data.pretraining import flags as pretraining_flags
from data.pretraining import instances
from data.pretraining.at_scale import stages, token_store
from data.pretraining.at_scale.job import Job
from data.pretraining.options import InstanceOptions
from data.text import sentences, tokenization
from files import paths
from files.atomic import is_remote
from training import progress
from training.command_line import cli
from training.command_line import flags as common_flags

FLAGS = flags.FLAGS

# Flags that select the scalable form.
_SCALABLE = (
    "num_processes",
    "num_shards",
    "pipeline",
    "sentence_split",
    "word_boundary_file",
    "segmenter",
    "whole_word_draw",
    "dynamic_masking",
    "eval_fraction",
)


def define_flags() -> None:
    """Defines the flags."""
    common_flags.define_corpus_flag()
    cli.define_path(
        "output_file",
        paths.Kind.OUTPUT_FILES,
        "TFRecord files to write, comma-separated.",
    )
    cli.define_path(
        "vocab_file", paths.Kind.INPUT_FILE, "The model's vocabulary."
    )
    flags.DEFINE_bool(
        "do_lower_case",
        True,
        "Lower-case the text: true for uncased models, false for cased ones.",
    )
    pretraining_flags.define_instance_flags()
    _define_scalable_flags()


def _define_scalable_flags() -> None:
    flags.DEFINE_integer(
        "num_processes",
        None,
        "Number of processes; 0 = one for each processor.",
        lower_bound=0,
        upper_bound=1024,
    )
    flags.DEFINE_integer(
        "num_shards",
        None,
        "Number of files to write; by default chosen from the corpus size.",
        lower_bound=1,
        upper_bound=stages.MAX_SHARDS,
    )
    flags.DEFINE_enum(
        "pipeline",
        None,
        ["local", "beam"],
        "local: run in processes on this machine. beam: run on Apache Beam, "
        "which also takes its own flags; its workers must see the files under "
        "the same paths.",
    )
    flags.DEFINE_string(
        "sentence_split",
        None,
        "Language code (en, de, ...) of the rules by which lines are split "
        "into sentences; needs the package sentencex.",
    )
    cli.define_path(
        "word_boundary_file",
        paths.Kind.INPUT_FILES,
        "For each input file, a file with the same lines and spaces between "
        "words, for whole word masking of text without spaces.",
    )
    flags.DEFINE_string(
        "segmenter",
        None,
        "module:function that splits a sentence into words, instead of "
        "--word_boundary_file.",
    )


def create_as_original(input_files: Sequence[str]) -> tuple[int, str]:
    """Makes the original's instances in the original's order.

    Returns:
        (number of instances, words on the files that they are in).
    """
    tokenizer = tokenization.FullTokenizer(
        FLAGS.vocab_file, FLAGS.do_lower_case
    )
    output_files = FLAGS.output_file.split(",")
    # Millions of lists, none of them in a cycle: looking for cycles would
    # take half the time.
    gc.disable()
    # Opened first, so that an unwritable output is found before the work.
    with records.RecordWriter(output_files) as writer:
        made = instances.create_training_instances(
            input_files,
            tokenizer,
            common_flags.read(InstanceOptions),
            functools.partial(progress.track, unit="document", label="Reading"),
        )
        logging.info("The first instance:\n%s", made[0])
        for instance in progress.track(made, len(made), "instance", "Writing"):
            features = instances.instance_features(
                instance,
                tokenizer,
                FLAGS.max_seq_length,
                FLAGS.max_predictions_per_seq,
            )
            writer.write(records.encode_example(features))
    return (
        len(made),
        f"written to {len(output_files)} file(s), {FLAGS.output_file}",
    )


def check_output_file() -> None:
    """Refuses an --output_file that cannot be made at scale.

    Raises:
        ValueError: it is several files, or remote.
    """
    if "," in FLAGS.output_file:
        raise ValueError(
            "--output_file takes one name with --num_processes, --num_shards "
            f"and the like; shards get numbers. Received: {FLAGS.output_file}"
        )
    if is_remote(FLAGS.output_file):
        raise ValueError(
            f"--output_file={FLAGS.output_file}: --num_processes, "
            "--num_shards and the like write to a local file system only, "
            "so that unfinished work can resume; give a local path and copy "
            "the shards"
        )


def find_boundary_files(num_input_files: int) -> list[str]:
    """Returns the files of --word_boundary_file, [] without it.

    Raises:
        ValueError: there is not one for each input file.
        OSError: one is missing.
    """
    if not FLAGS.word_boundary_file:
        return []
    found = text_files.expand_patterns(
        FLAGS.word_boundary_file, "word_boundary_file"
    )
    if len(found) != num_input_files:
        raise ValueError(
            f"--word_boundary_file names {len(found)} files for "
            f"{num_input_files} input files; give one for each"
        )
    return found


def create_executor(beam_arguments: Sequence[str]) -> stages.Executor:
    """Returns the executor that --pipeline names."""
    if FLAGS.pipeline == "beam":
        from data.io import beam_executor

        return beam_executor.BeamExecutor(beam_arguments)
    num_processes = FLAGS.num_processes
    return workers.WorkerPool(1 if num_processes is None else num_processes)


def log_manifest(path: str, manifest: Mapping[str, Any]) -> None:
    """Logs a manifest's statistics and the shards held out."""
    for name, value in manifest["statistics"].items():
        logging.info("%s: %.4g", name, value)
    logging.info("manifest: %s", path)
    for entry in manifest.get("eval_shards", ()):
        logging.info(
            "held out: %d instances in %s, crc32c %s",
            entry["num_records"],
            entry["path"],
            entry["crc32c"],
        )


def create_at_scale(
    input_files: Sequence[str], beam_arguments: Sequence[str]
) -> tuple[int, str]:
    """Makes shards of instances and a manifest.

    Args:
        input_files: paths.
        beam_arguments: Beam's own flags.

    Returns:
        (number of instances, words on the files that they are in).
    """
    check_output_file()
    boundary_files = find_boundary_files(len(input_files))
    job = Job(
        common_flags.read(token_store.TextOptions),
        common_flags.read(InstanceOptions),
        tuple(input_files),
        tuple(boundary_files),
        FLAGS.output_file,
        FLAGS.num_shards or 0,
    )
    with create_executor(beam_arguments) as executor:
        manifest, is_new = stages.create_shards(
            job,
            executor,
            lambda iterable, total, label: progress.track(
                iterable, total, "task", label
            ),
            lambda line, is_warning: logging.log(
                logging.WARNING if is_warning else logging.INFO, line
            ),
        )
    log_manifest(job.manifest_file, manifest)
    verb = "written to" if is_new else "already made in"
    num_shards = len(manifest["shards"])
    return (
        manifest["statistics"]["num_instances"],
        f"{verb} {num_shards} file(s), "
        f"{FLAGS.output_file}-*-of-{num_shards:05d}",
    )


def main(argv: Sequence[str]) -> None:
    """Checks the flags and makes the records in the selected form."""
    start = time.monotonic()
    if argv[1:] and FLAGS.pipeline != "beam":
        raise ValueError(f"unknown arguments. Received: {argv[1:]}")
    input_files = text_files.expand_patterns(FLAGS.input_file, "input_file")
    tokenization.check_vocab(FLAGS.vocab_file)
    if FLAGS.max_predictions_per_seq > FLAGS.max_seq_length:
        raise ValueError(
            f"--max_predictions_per_seq={FLAGS.max_predictions_per_seq} is "
            f"more than --max_seq_length={FLAGS.max_seq_length}; give at most "
            "that, and usually 15% of it"
        )
    if FLAGS.sentence_split is not None:
        sentences.check_language(FLAGS.sentence_split)
    common_flags.read(InstanceOptions).check_shares()
    # An explicit False does not select it; 0 processes do.
    values = [FLAGS[name].value for name in _SCALABLE]
    if any(value is not None and value is not False for value in values):
        num_instances, place = create_at_scale(input_files, argv[1:])
    else:
        num_instances, place = create_as_original(input_files)
    print(
        f"{num_instances:,} instances from {len(input_files)} file(s) {place}, "
        f"in {time.monotonic() - start:.1f} s"
    )


def command() -> None:
    """Runs the script as a command."""
    cli.run(
        main,
        define_flags,
        ("input_file", "output_file", "vocab_file"),
        passes_rest=True,
    )


if __name__ == "__main__":
    command()
