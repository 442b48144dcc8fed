"""Converts checkpoints as tools.convert_checkpoint does, in this process.

For example:

    convert(folder, tmp_path / "there", output_format="huggingface")
"""

from typing import Any

from command_line.parsed_command import ParsedCommand
from conversion.convert_checkpoint_config import ConvertCheckpointConfig
from files.paths import StrPath
from tools import convert_checkpoint


def convert(
    init_checkpoint: StrPath, output_dir: StrPath, **options: Any
) -> None:
    """Runs the script's main. `options` are its other flags that are set."""
    config = ConvertCheckpointConfig(
        init_checkpoint=str(init_checkpoint),
        output_dir=str(output_dir),
        **options,
    )
    convert_checkpoint.main(ParsedCommand(config, options))
