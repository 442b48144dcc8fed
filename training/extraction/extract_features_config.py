"""The flags of extract_features.py."""

import dataclasses
from typing import Self

from model_folders.reading import hub
from options import config_values
from options.config import Config
from options.fields import group, like, option
from options.path_kinds import PathKind
from training.config.device_flags import DeviceFlags
from training.config.model_flags import ModelFlags


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExtractFeaturesConfig(Config):
    """The model, the texts, and the vectors to write."""

    model: ModelFlags = group(ModelFlags, init_checkpoint=like(default=...))
    devices: DeviceFlags = group(DeviceFlags)
    input_file: str = option(
        ...,
        "UTF-8 text file to read, one text per line.",
        kind=PathKind.INPUT_FILE,
    )
    output_file: str = option(
        ..., "File to write the vectors to.", kind=PathKind.OUTPUT_FILE
    )
    layers: str = option(
        "-1,-2,-3,-4",
        "Transformer blocks whose outputs to write, comma-separated. -1 is the "
        "last block.",
    )
    max_seq_length: int = option(
        128,
        "Input length in WordPieces. The script cuts longer inputs, and pads "
        "shorter inputs.",
        at_least=3,
    )
    batch_size: int = option(32, "Number of lines in a batch.", at_least=1)
    use_one_hot_embeddings: bool = option(
        False,
        "Look up embeddings by multiplying one-hot vectors with the embedding "
        "table, which is faster on a TPU.",
    )

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the vectors."""
        return self.devices.is_chief

    def download(self) -> Self:
        """Downloads a model of the hub. Returns the flags with its folder."""
        folder = hub.to_local_folder(str(self.model.init_checkpoint))
        return config_values.with_groups(
            self, dataclasses.replace(self.model, init_checkpoint=folder)
        )
