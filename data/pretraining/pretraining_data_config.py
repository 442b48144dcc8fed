"""The flags of create_pretraining_data.py."""

import dataclasses

from data.parallel_jobs.beam_options import BeamOptions
from data.pretraining.pretraining_options import InstanceOptions
from options.config import Config
from options.fields import PathType, group, option


@dataclasses.dataclass(frozen=True, kw_only=True)
class PretrainingDataConfig(Config):
    """The corpus to read, and the records to write."""

    instances: InstanceOptions = group(InstanceOptions)
    beam: BeamOptions = group(BeamOptions)
    input_file: str = option(
        ...,
        "Text files to read, as comma-separated paths or patterns. The files "
        "may be packed with gzip, bzip2, xz or zstd.",
        path_type=PathType.INPUT_FILES,
    )
    output_file: str = option(
        ...,
        "TFRecord files to write, comma-separated.",
        path_type=PathType.OUTPUT_FILES,
    )
    num_processes: int | None = option(
        None,
        "Number of processes that create the records. 0 = one for each "
        "processor.",
        at_least=0,
        at_most=1024,
    )
    num_shards: int | None = option(
        None,
        "Number of TFRecord files to write. The default depends on the size of "
        "the corpus.",
        at_least=1,
        at_most=99_999,
    )

    def check_early(self) -> None:
        """Checks the fractions of masked WordPieces."""
        self.instances.check_fractions()

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
