"""Batch sizes that grow while a run trains, and the examples they make."""

import dataclasses
import functools
import re
from collections.abc import Callable
from typing import Any, Self


@dataclasses.dataclass(frozen=True)
class BatchSizes:
    """Examples in each step.

    Attributes:
        final: size of the batches after the warmup.
        warmup: (size, step) pairs: batches of `size` until `step` steps are
            made; both grow.
    """

    final: int
    warmup: tuple[tuple[int, int], ...] = ()

    @classmethod
    def parse(cls, text: str | None, final: int) -> Self:
        """Returns the sizes of --batch_size_warmup.

        Args:
            text: such as "32:10000,64:20000"; None for no warmup.
            final: size of the batches after it.

        Raises:
            ValueError: the text is of another form, or a size or a step does
                not grow.
        """
        if text is None:
            return cls(final)
        parts = [part.strip() for part in text.split(",")]
        found = [re.fullmatch(r"(\d{1,9}):(\d{1,15})", part) for part in parts]
        if not all(found):
            raise ValueError(
                f"--batch_size_warmup={text} is not of the form "
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
                    f"--batch_size_warmup={text}: the {name} must grow, the "
                    f"sizes up to --train_batch_size={final}"
                )
        return cls(final, tuple(pairs))

    def times(self, count: int) -> "BatchSizes":
        """Returns sizes that are all `count` times as large."""
        return BatchSizes(
            self.final * count,
            tuple((size * count, step) for size, step in self.warmup),
        )

    def at(self, step: int) -> int:
        """Returns the examples of the step that follows `step` others."""
        return next(
            (size for size, end in self.warmup if step < end), self.final
        )

    def examples(self, step: int) -> int:
        """Returns the examples of the first `step` steps."""
        total = start = 0
        for size, end in self.warmup:
            total += size * (min(step, end) - min(step, start))
            start = end
        return total + self.final * (step - min(step, start))

    def batches(
        self, create_dataset: Callable[[int, int], Any], step: int
    ) -> Any:
        """Returns the tf.data batches that follow `step` steps, in their sizes.

        Args:
            create_dataset: (batch_size, skip_records) -> endless batches.
            step: steps that have been made.
        """
        seen = self.examples(step)
        parts = []
        for size, end in self.warmup:
            # Stages that are over have no batches, but are still there: so
            # the batches' shapes are those of a run that was never stopped.
            steps = max(end - step, 0)
            parts.append(create_dataset(size, seen).take(steps))
            seen, step = seen + size * steps, max(step, end)
        parts.append(create_dataset(self.final, seen))
        return functools.reduce(
            lambda one, other: one.concatenate(other), parts
        )


def of(sizes: BatchSizes | int) -> BatchSizes:
    """Returns the BatchSizes that a number stands for."""
    return BatchSizes(sizes) if isinstance(sizes, int) else sizes
