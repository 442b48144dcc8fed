"""Defines the flags of a single file of examples, which is split into sets."""

import dataclasses

from options import fields
from options.fields import PathType


@dataclasses.dataclass(frozen=True, kw_only=True)
class DataFileOptions:
    """Options for splitting a single file of examples."""

    data_file: str | None = fields.training_option(
        None,
        "One file of labeled examples, instead of --data_dir. The script "
        "splits it, trains, evaluates each epoch, reports, and exports the "
        "best step to OUTPUT_DIR_model, unless your flags say otherwise. By "
        "default, --do_train and --do_eval are then True.",
        path_type=PathType.INPUT_FILE,
    )
    dev_fraction: float = fields.training_option(
        0.2,
        "Fraction of --data_file to evaluate on. A row's texts alone decide "
        "whether the row is evaluated. The default is that of the run, or of "
        "the run that --init_checkpoint names.",
        at_least=0.01,
        at_most=0.9,
    )
