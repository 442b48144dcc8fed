"""Adapts the flags of run_pretraining.py to the records that they name.

This module imports no TensorFlow.
"""

import dataclasses

from command_line import config_values, flags
from data.io.text_files import expand_patterns
from data.pretraining.record_files import find_masking_and_lengths
from training.config.pretraining_config import PretrainingConfig


def adapt_to_records(
    parsed: flags.ParsedCommand[PretrainingConfig],
) -> flags.ParsedCommand[PretrainingConfig]:
    """Returns the flags with the lengths of the records that they name.

    The lengths are set as if the user had set them, because a folder of weights
    may state others.

    Raises:
        ValueError: a flag states another length than the records have.
        OSError: a file is missing or cannot be read.
    """
    options = parsed.config.pretraining
    command = {**parsed.command}
    values: dict[str, int] = {
        name: getattr(options, name)
        for name in ("max_seq_length", "max_predictions_per_seq")
        if name in command
    }
    for flag in ("input_file", "eval_input_file"):
        if not (pattern := getattr(options, flag)):
            continue
        files = expand_patterns(pattern, flag)
        is_masked, lengths = find_masking_and_lengths(files)
        for name, length in lengths.items():
            value = values.setdefault(name, length)
            # Training masks records without masks, by as many WordPieces as
            # --max_predictions_per_seq says.
            is_fixed = is_masked or name == "max_seq_length"
            if value != length and is_fixed:
                raise ValueError(
                    f"--{name}={value}, but the records of --{flag} "
                    f"({files[0]}) have {length}; set --{name}={length}"
                )
    config = config_values.replace_values(parsed.config, **values)
    return dataclasses.replace(
        parsed, config=config, command={**values, **command}
    )
