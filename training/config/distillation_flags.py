"""The flags of a student that learns from a teacher or copies its blocks."""

import dataclasses
from collections.abc import Sequence

from command_line import flags
from command_line.path_flags import PathKind


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistillationFlags:
    """Flags of a student that learns from a teacher or copies its blocks."""

    teacher: str | None = flags.training_flag(
        None,
        "Folder of a larger model of the same task to learn from, such as a "
        "folder that --export_weights wrote.",
        kind=PathKind.MODEL,
    )
    distill_temperature: float = flags.training_flag(
        2.0,
        "Temperature that divides the logits of teacher and student.",
        at_least=0.01,
    )
    distill_alpha: float = flags.training_flag(
        0.5,
        "Weight alpha of the teacher's loss. The labels' loss is weighted by "
        "1 - alpha.",
        at_least=0,
        at_most=1,
    )
    distill_hidden: bool = flags.training_flag(
        False, "Learn the output of the teacher's last block too."
    )
    init_layers: Sequence[str] | None = flags.training_flag(
        None,
        "Blocks of --init_checkpoint, or else of --teacher, that initialize "
        "the model's blocks, such as 0,2,5 for a model of 3 blocks.",
    )

    @property
    def initial_blocks(self) -> list[int] | None:
        """Indices of the blocks in --init_layers, None without the flag."""
        if self.init_layers is None:
            return None
        return [int(layer) for layer in self.init_layers]
