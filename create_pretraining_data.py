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

import time

from command_line import cli, flags
from data.io import text_files
from data.pretraining.pretraining_data_config import PretrainingDataConfig
from data.pretraining.record_writing import (
    complete_casing,
    write_records_in_order,
)
from data.pretraining.sharded_writing import write_records_at_scale
from options.parsed_command import ParsedCommand


def main(parsed: ParsedCommand[PretrainingDataConfig]) -> None:
    """Checks the flags, and writes the records for pretraining."""
    begin_time = time.monotonic()
    config = parsed.config
    beam_options = config.beam.parse(
        parsed.arguments, config.num_processes, flags.defined_names()
    )
    input_files = text_files.expand_patterns(config.input_file, "input_file")
    config = complete_casing(
        config, is_set_by_user="do_lower_case" in parsed.set_by_user
    )
    if config.is_scalable:
        written = write_records_at_scale(config, input_files, beam_options)
    else:
        written = write_records_in_order(config, input_files)
    verb = "written to" if written.is_new else "already written to"
    print(
        f"{written.num_instances:,} instances from {len(input_files)} file(s) "
        f"{verb} {written.num_files} file(s), {written.files}, "
        f"in {time.monotonic() - begin_time:.1f} s"
    )


command = cli.Command(main, PretrainingDataConfig, may_have_beam_flags=True)

if __name__ == "__main__":
    command()
