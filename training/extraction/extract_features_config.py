"""The flags of extract_features.py."""

import dataclasses

from options.fields import PathType, group, option, option_changes
from training.config.model_config import ModelConfig, ModelOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExtractFeaturesConfig(ModelConfig):
    """The model, the texts, and the vectors to write."""

    model: ModelOptions = group(
        ModelOptions, init_checkpoint=option_changes(default=...)
    )
    input_file: str = option(
        ...,
        "UTF-8 text file to read, one text per line.",
        path_type=PathType.INPUT_FILE,
    )
    output_file: str = option(
        ..., "File to write the vectors to.", path_type=PathType.OUTPUT_FILE
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
