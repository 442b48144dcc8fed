"""Runs a function on the workers of Apache Beam.

Beam's workers read and write the same paths as this process, so a runner on
many machines needs a file system that all of them mount.
"""

import builtins
import itertools
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVarTuple

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

# Types of the arguments of a call.
Arguments = TypeVarTuple("Arguments")

# The first line of a traceback. A runner that uses other processes puts the
# traceback of an error there into the message of the error here.
_TRACEBACK = "Traceback (most recent call last):\n"
# What Beam adds to the message of an exception.
_STEP = re.compile(r"\s*\[while running .*?\]", re.DOTALL)


def run_on_beam(
    function: Callable[[*Arguments], object],
    calls: Sequence[tuple[*Arguments]],
    options: "PipelineOptions",
) -> Generator[None]:
    """Calls a function with each tuple of arguments, in one pipeline.

    A runner may make the same call again, or twice at the same time.

    Args:
        function: function to call, which must be picklable.
        calls: the function's arguments in each call.
        options: what `data.parallel_jobs.beam_options.parse_options` returns.

    Yields:
        None for each call, after all calls are done.

    Raises:
        ValueError: the function raised it, or an option is wrong.
        OSError: the pipeline failed in another way.
    """
    # Only a job on Beam needs Beam.
    import apache_beam as beam

    if not calls:
        return
    pipeline = None
    try:
        with beam.Pipeline(options=options) as pipeline:
            _ = (
                pipeline
                | beam.Create(calls)
                # Distribute the calls. Otherwise one worker of Beam might make
                # all of them.
                | beam.Reshuffle()
                | beam.MapTuple(function)
            )
    except Exception as error:
        raise beam_error(error) from error
    finally:
        # Beam leaves the client of Dask open. A call that still runs after an
        # error ends with it.
        result = getattr(pipeline, "result", None)
        if client := getattr(result, "client", None):
            client.close()
    yield from [None] * len(calls)


def beam_error(error: BaseException) -> ValueError | OSError:
    """Returns an error for the user, whose message is the cause.

    If another process raised the error, the message contains the traceback of
    that process, and perhaps other lines after it. If Dask's scheduler raised
    the error, its cause says what is wrong.
    """
    text = _STEP.sub("", str(error))
    if _TRACEBACK in text:
        name, message = _read_traceback(text)
    else:
        if not isinstance(error, ValueError | OSError):
            *_, error = _list_causes(error)
        name = type(error).__name__
        message = _STEP.sub("", str(error))
    error_class = getattr(builtins, name, Exception)
    if issubclass(error_class, ValueError):
        return ValueError(message)
    if not issubclass(error_class, OSError):
        message = f"{name}: {message}" if message else name
    if issubclass(error_class, ModuleNotFoundError):
        message += (
            ". Install this project on every worker, and where Dask's "
            "scheduler runs"
        )
    return OSError(f"the Beam pipeline failed: {message}")


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _read_traceback(text: str) -> tuple[str, str]:
    """Returns the name and the message of an exception in another process.

    The last traceback in the text ends with the name and the message. The name
    is in the first line that is not indented.
    """
    lines = text.rpartition(_TRACEBACK)[2].splitlines()
    lines = [*itertools.dropwhile(lambda line: line.startswith(" "), lines)]
    # An empty line, or the Java stack of the runner, ends the message.
    message = itertools.takewhile(
        lambda line: line.strip() and not line.startswith("\t"), lines
    )
    joined = "\n".join(message)
    name, _, message_text = joined.partition(": ")
    return name.rpartition(".")[2], message_text
