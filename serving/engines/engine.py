"""An engine: a loaded network, which runs batches of inputs.

A caller of an engine or of a model gets one of these errors:

    OSError                  the file of the network cannot be loaded
    ValueError               what is asked is wrong
      RequestError           a request to a text task is wrong
      EngineError            the network fails on an input that is right
    another exception        a bug

An EngineError is a ValueError, so that commands report it in a line, and so
that a caller can catch both by one class.

B = batch size, F = length of an input in WordPieces, with padding.
"""

import abc
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, TypeAlias

from data.arrays import IntArray
from data.parallel_jobs.cpus import count_cpus
from exporting.export_formats import ExportFormat
from serving.engines.batching import (
    BatchLimits,
    NetworkInput,
    OutputArrays,
    OutputCollector,
    list_padded_lengths,
    plan_batches,
    resize_last_axis,
)

# Maximum number of WordPieces in a batch, including padding.
MAX_BATCH_WORDPIECES = 1024
# Maximum number of values that the network outputs for a batch.
MAX_VALUES = 1 << 24

# {name of an input: shape, with None for a variable size}
InputShapes: TypeAlias = dict[str, tuple[int | None, ...]]


class EngineError(ValueError):
    """A network failed, or returned values that are not finite numbers.

    The cause is not the request, but a lack of memory, the model or the
    package that runs it.
    """


class Engine(abc.ABC):
    """Runs a network, which a package such as ONNX Runtime has loaded.

    A subclass loads a file: `Subclass(path, num_threads)`, where `num_threads`
    None means one per CPU. It raises an OSError if the file cannot be loaded,
    and a MemoryError if the model does not fit into memory.

    Args:
        inputs: {name of an input: shape, with None for a variable size}.
        needs_single_rows: True if the result for a row depends on the other
            rows of the batch and on the padding. Then pass one row at a time,
            with as little padding as possible.

    Attributes:
        name: format of the networks that the engine loads.
    """

    name: ClassVar[ExportFormat]

    def __init__(
        self, inputs: InputShapes, *, needs_single_rows: bool = False
    ) -> None:
        self.inputs = inputs
        self.needs_single_rows = needs_single_rows

    @abc.abstractmethod
    def _compute(self, features: Mapping[str, IntArray]) -> OutputArrays:
        """Runs the network. Several threads may call this method.

        Only the calls of the package are inside of `explain_engine_errors`, so
        that a bug in this method stays visible as such.

        Raises:
            EngineError: the network fails.
        """

    def run(self, features: Mapping[str, IntArray]) -> OutputArrays:
        """Runs the network and returns its outputs. Thread-safe.

        Args:
            features: input_ids, input_mask and segment_ids, int32 [B, T].

        Raises:
            EngineError: the network fails, for example for lack of memory.
            ValueError: the batch has no rows.
        """
        if not len(features["input_ids"]):
            # Some packages crash on a batch without rows.
            raise ValueError("a batch must contain at least one row")
        return self._compute(features)

    def run_padded(
        self, features: Mapping[str, IntArray], limits: BatchLimits
    ) -> OutputArrays:
        """Runs inputs that are padded to any length, in their order.

        Pads the inputs again, to the length that `run_all` would choose. So
        this method and `run_all` compute the same outputs.

        Args:
            features: input_ids, input_mask and segment_ids, int32 [B, T], or
                [B, C, T] for a network that chooses among C texts.
            limits: limits of the engine's batches, from `batch_limits`.

        Raises:
            EngineError: the network fails.
            ValueError: the batch has no rows, or an input is too long.
        """
        length = limits.padded_length(features["input_mask"].sum(-1).max())
        return self.run(
            {
                name: resize_last_axis(features[name], length)
                for name in self.inputs
            }
        )

    def batch_limits(
        self,
        max_seq_length: int,
        *,
        trims_padding: bool,
        values_per_wordpiece: int = 1,
    ) -> BatchLimits:
        """Returns the limits of the engine's batches of a model.

        The arguments are all that an engine must know of a model.

        Args:
            max_seq_length: maximum length of an input in WordPieces.
            trims_padding: False to pad all inputs to `max_seq_length`.
            values_per_wordpiece: number of values that the network outputs for
                each WordPiece.
        """
        fixed = self.inputs["input_ids"][-1]
        lengths = list_padded_lengths(max_seq_length)
        if fixed or not trims_padding:
            lengths = [fixed or max_seq_length]
        return BatchLimits(
            lengths,
            min(MAX_BATCH_WORDPIECES, MAX_VALUES // values_per_wordpiece),
            self.needs_single_rows,
        )

    def run_all(
        self,
        inputs_of_request: Mapping[int, Sequence[NetworkInput]],
        limits: BatchLimits,
    ) -> Iterator[dict[int, list[OutputArrays]]]:
        """Runs the inputs of several requests in batches of similar length.

        Args:
            inputs_of_request: {key of a request: its inputs}.
            limits: limits of the engine's batches, from `batch_limits`.

        Yields:
            after each batch, {key of a request: outputs of its inputs, without
            the batch's axis} of the requests whose last inputs the batch
            contained. The outputs may need much memory, so do not keep them.

        Raises:
            EngineError: the network fails on a batch.
        """
        empty = [key for key, inputs in inputs_of_request.items() if not inputs]
        if empty:
            yield {key: [] for key in empty}
        collector = OutputCollector(inputs_of_request)
        for batch in plan_batches(inputs_of_request, limits):
            outputs = self.run(batch.to_features())
            yield collector.add_batch(batch.rows, outputs)


def count_threads(num_threads: int | None) -> int:
    """Returns `num_threads`, or for None the number of usable CPUs."""
    return num_threads or count_cpus()


# The errors of ONNX Runtime have no common base class but Exception.
@contextlib.contextmanager
def explain_load_errors(path: Path) -> Iterator[None]:
    """Turns the errors of a package that loads `path` into an OSError.

    The message names the file. A MemoryError is raised unchanged.
    """
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise OSError(
            f"{path} cannot be loaded; export or copy the model again: "
            f"{' '.join(str(error).split())}"
        ) from error


@contextlib.contextmanager
def explain_engine_errors() -> Iterator[None]:
    """Turns the errors of a package that runs a network into an EngineError."""
    try:
        yield
    except Exception as error:
        # The usual cause is a lack of memory.
        reason = " ".join(str(error).split())[:200] or "out of memory"
        raise EngineError(
            f"the model failed on this input: {reason}"
        ) from error
