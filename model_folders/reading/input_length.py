"""Finds the maximum length of inputs that files beside weights record."""

import os

from files.json_files import read_json
from model_folders.kinds import ModelClass
from model_folders.reading.preset import Preset

# {file of transformers or sentence-transformers: its entry for the length of
# inputs}.
_LENGTH_ENTRY_OF_FILE = {
    "sentence_bert_config.json": "max_seq_length",
    "tokenizer_config.json": "model_max_length",
}


def read_max_seq_length(
    preset: Preset, model_class: str, num_positions: int
) -> int:
    """Returns the maximum length of the inputs of a preset's training.

    Args:
        preset: what the folder of the weights states.
        model_class: name of the model's class, which may be a user's own.
        num_positions: number of the model's positions, which is returned if no
            file records the length.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is malformed.
    """
    length: object = preset.head_settings.get("max_seq_length")
    if length is None and model_class != ModelClass.MULTIPLE_CHOICE:
        # Ignore this setting for multiple choice, because it may be the total
        # length of all choices.
        length = preset.training_settings.head.get("max_seq_length")
    for name, entry in _LENGTH_ENTRY_OF_FILE.items():
        file = os.path.join(preset.folder, name)
        if length is None and os.path.isfile(file):
            length = read_json(file).get(entry)
    if not isinstance(length, int):
        return num_positions
    return min(length, num_positions)
