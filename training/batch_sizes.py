"""Computes the batch size of each step, which may grow during training."""

import dataclasses
import functools
import re
from collections.abc import Callable
from typing import Any, Self


@dataclasses.dataclass(frozen=True)
class BatchSizes:
    """Number of examples in each training step.

    Attributes:
        final: size of the batches after the warmup.
        warmup: pairs (size, step). Batches contain `size` examples up to and
            including step `step`. Both numbers increase from pair to pair.
    """

    final: int
    warmup: tuple[tuple[int, int], ...] = ()

    @classmethod
    def parse(cls, text: str | None, final: int, num_parts: int = 1) -> Self:
        """Parses --batch_size_warmup.

        Args:
            text: the flag's value, such as "32:10000,64:20000". None means
                no warmup.
            final: size of the batches after the warmup.
            num_parts: number of batches whose gradients one step adds up. The
                result contains all sizes times `num_parts`.

        Raises:
            ValueError: the text is malformed, or its sizes or steps do not
                increase.
        """
        if text is None:
            return cls(final * num_parts)
        parts = [part.strip() for part in text.split(",")]
        found = [re.fullmatch(r"(\d{1,9}):(\d{1,15})", part) for part in parts]
        if not all(found):
            raise ValueError(
                f"--batch_size_warmup={text} must have the form "
                "SIZE:STEP,SIZE:STEP, such as 32:10000,64:20000"
            )
        pairs = [(int(match[1]), int(match[2])) for match in found if match]
        sizes, steps = [size for size, _ in pairs], [step for _, step in pairs]
        for name, numbers in (
            ("sizes", [0, *sizes, final]),
            ("steps", [0, *steps]),
        ):
            if sorted(set(numbers)) != numbers:
                raise ValueError(
                    f"--batch_size_warmup={text}: the {name} must increase, "
                    f"and --train_batch_size={final} must be the largest size"
                )
        return cls(
            final * num_parts,
            tuple((size * num_parts, step) for size, step in pairs),
        )

    def at(self, step: int) -> int:
        """Returns the batch size of step number `step` + 1."""
        return next(
            (size for size, end in self.warmup if step < end), self.final
        )

    def examples(self, step: int) -> int:
        """Returns the number of examples in the first `step` steps."""
        total = start = 0
        for size, end in self.warmup:
            total += size * (min(step, end) - min(step, start))
            start = end
        return total + self.final * (step - min(step, start))

    def batches(
        self, create_dataset: Callable[[int, int], Any], step: int
    ) -> Any:
        """Returns a tf.data dataset of the batches of all steps after `step`.

        Args:
            create_dataset: function (batch_size, skip_records) that returns
                an endless dataset of batches. The first `skip_records` records
                are skipped.
            step: number of steps trained so far.
        """
        seen = self.examples(step)
        parts = []
        for size, end in self.warmup:
            # If training is past the last step of this size, add an empty
            # dataset, so that the shapes in the combined dataset do not depend
            # on the step at which a run resumes.
            steps = max(end - step, 0)
            parts.append(create_dataset(size, seen).take(steps))
            seen, step = seen + size * steps, max(step, end)
        parts.append(create_dataset(self.final, seen))
        return functools.reduce(
            lambda one, other: one.concatenate(other), parts
        )
