"""Creates pretraining records of the sample corpus, as a user does.

For example:

    create_records(tmp_path, "train.tfrecord", dupe_factor=2)
"""

from pathlib import Path

from files.paths import StrPath
from tests.support.paths import SAMPLES
from tests.support.script_runner import run, split_flags


def create_records(
    folder: StrPath, output_file: StrPath, **flags: object
) -> None:
    """Creates pretraining records of the sample corpus in a folder."""
    defaults = split_flags(f"""
        --input_file={SAMPLES}/corpus.txt --vocab_file={SAMPLES}/vocab.txt
        --max_seq_length=32 --max_predictions_per_seq=5 --dupe_factor=1
    """)
    changed = defaults | flags | {"output_file": output_file}
    run("create_pretraining_data.py", folder, **changed).check()


def create_masked_and_unmasked(folder: Path, num_shards: int) -> Path:
    """Creates the records masked-* and unmasked-* of 32 WordPieces in a folder.

    Returns the folder.
    """
    for name, dynamic_masking in (("masked", False), ("unmasked", True)):
        create_records(
            folder, name, dynamic_masking=dynamic_masking, num_shards=num_shards
        )
    return folder
