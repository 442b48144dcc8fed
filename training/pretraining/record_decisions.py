"""Reads the lengths that no flag sets from the records of pretraining.

This module imports no TensorFlow.
"""

from data.io.text_files import expand_patterns
from data.pretraining.record_inspection import read_masking_and_lengths
from options.parsed_command import ParsedCommand
from training.config.pretraining_config import PretrainingConfig


def decide_by_records(
    parsed: ParsedCommand[PretrainingConfig],
) -> ParsedCommand[PretrainingConfig]:
    """Takes the lengths that the user did not set from the records.

    So the folder of the weights, which may state other lengths, does not.

    Raises:
        ValueError: a flag states another length than the records have.
        OSError: a file is missing or cannot be read.
    """
    options = parsed.config.pretraining
    for flag, pattern in (
        ("input_file", options.input_file),
        ("eval_input_file", options.eval_input_file),
    ):
        if not pattern:
            continue
        files = expand_patterns(pattern, flag)
        is_masked, lengths = read_masking_and_lengths(files)
        parsed = parsed.decide_if_open(lengths, source=files[0])
        values = parsed.config.option_values()
        for name, length in lengths.items():
            # Training masks records without masks, by as many WordPieces as
            # --max_predictions_per_seq says.
            is_fixed = is_masked or name == "max_seq_length"
            if values[name] != length and is_fixed:
                raise ValueError(
                    f"--{name}={values[name]}, but the records of --{flag} "
                    f"({files[0]}) have {length}; set --{name}={length}"
                )
    return parsed
