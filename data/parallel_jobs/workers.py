"""Runs a function in worker processes, or on the workers of Apache Beam.

concurrent.futures.ProcessPoolExecutor may wait forever for a worker that was
killed while it sent a result, because its workers share one pipe. So this
module starts processes of its own.

Beam's workers read and write the same paths as this process, so a runner on
many machines needs a file system that all of them mount.
"""

import builtins
import contextlib
import itertools
import multiprocessing
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from multiprocessing import connection, resource_tracker
from multiprocessing.process import BaseProcess
from typing import (
    TYPE_CHECKING,
    Any,
    NamedTuple,
    NoReturn,
    TypeVar,
    TypeVarTuple,
)

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

T = TypeVar("T")
# Types of the arguments of a call.
Arguments = TypeVarTuple("Arguments")

# The first line of a traceback. A runner that uses other processes puts the
# traceback of an error there into the message of the error here.
_TRACEBACK = "Traceback (most recent call last):\n"
# What Beam adds to the message of an exception.
_STEP = re.compile(r"\s*\[while running .*?\]", re.DOTALL)


def run_in_processes(
    function: Callable[[*Arguments], T],
    calls: Sequence[tuple[*Arguments]],
    num_processes: int,
) -> Generator[T]:
    """Calls a function with each tuple of arguments, in worker processes.

    Args:
        function: function to call, which must be picklable.
        calls: the function's arguments in each call.
        num_processes: number of worker processes. 0 starts one for each
            processor, and 1 runs the calls in this process.

    Yields:
        the function's results, in the order in which the calls end.

    Raises:
        ChildProcessError: a process was killed.
        Exception: any exception that the function raised.
    """
    num_processes = num_processes or len(os.sched_getaffinity(0))
    if num_processes == 1:
        yield from (function(*arguments) for arguments in calls)
        return
    # Workers end when this process closes `writer` or dies.
    reader, writer = multiprocessing.Pipe(duplex=False)
    # {pipe of a process: the process}
    processes: dict[connection.Connection, BaseProcess] = {}
    try:
        for _ in calls[:num_processes]:
            pipe, process = _start_process(function, reader)
            processes[pipe] = process
        yield from _distribute_calls(calls, processes)
    finally:
        # This ends the workers, even if they are busy.
        writer.close()
        # A signal that comes just before a worker waits for its next call does
        # not wake it, but the end of its pipe does.
        for pipe in processes:
            pipe.close()
        for process in processes.values():
            process.join()
        reader.close()


class _Answer(NamedTuple):
    """What a worker process sends after a call.

    Attributes:
        result: what the call returned.
        error: the error that the call raised, None if it returned.
    """

    result: Any = None
    error: Exception | None = None


# Any, because the results come through pipes.
def _distribute_calls(
    calls: Sequence[tuple[object, ...]],
    processes: Mapping[connection.Connection, BaseProcess],
) -> Generator[Any]:
    """Sends the calls to worker processes, and yields the results."""
    calls_left = iter(calls)
    idle = [*processes]
    busy: set[connection.Connection] = set()
    while idle:
        for pipe, arguments in zip(idle, calls_left, strict=False):
            # If the process was killed, its answer below says so.
            with contextlib.suppress(BrokenPipeError):
                pipe.send(arguments)
            busy.add(pipe)
        answered = connection.wait(busy) if busy else ()
        idle = [pipe for pipe in busy if pipe in answered]
        for pipe in idle:
            try:
                answer: _Answer = pipe.recv()
            except (EOFError, OSError):
                _raise_death(processes[pipe])
            if answer.error is not None:
                raise answer.error
            busy.remove(pipe)
            yield answer.result


def _start_process(
    function: Callable[[*Arguments], object], parent_pipe: connection.Connection
) -> tuple[connection.Connection, BaseProcess]:
    """Starts a worker process, and returns the pipe to it."""
    # Do not fork. A forked process would copy locks that other threads have
    # acquired, and no thread of the new process would release them.
    context = multiprocessing.get_context("spawn")
    # The worker inherits that SIGINT is blocked, so that Ctrl-C interrupts only
    # this process. The start of multiprocessing's resource tracker would lift
    # the block.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        pipe, pipe_of_worker = context.Pipe()
        with pipe_of_worker:
            process = context.Process(
                target=answer_calls,
                args=(function, pipe_of_worker, parent_pipe),
            )
            process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return pipe, process


def _raise_death(process: BaseProcess) -> NoReturn:
    process.join()
    code = process.exitcode or 0
    cause = f"status {code}" if code >= 0 else signal.Signals(-code).name
    raise ChildProcessError(
        f"a worker process failed or was killed ({cause}); if memory ran out, "
        "use fewer processes. Run the same command to resume"
    ) from None


def answer_calls(
    function: Callable[[*Arguments], object],
    pipe: connection.Connection,
    parent_pipe: connection.Connection,
) -> None:
    """Runs in a worker process: makes each call that the parent sends."""
    signal.signal(signal.SIGTERM, _end_process)
    threading.Thread(
        target=_end_with_parent, args=(parent_pipe,), daemon=True
    ).start()
    # If the parent died, end without a traceback.
    with contextlib.suppress(EOFError, OSError):
        while True:
            arguments = pipe.recv()
            try:
                answer = _Answer(result=function(*arguments))
            except Exception as error:
                answer = _Answer(error=error)
            pipe.send(answer)
    # The worker ends by itself now. SIGTERM from `_end_with_parent` would
    # interrupt the end of Python, which would then print a traceback.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _end_process(*unused_args: object) -> NoReturn:
    """Handles SIGTERM: ends this worker after it removes its partial output.

    Ignore later signals, which Ctrl-C or a batch system may send. A second
    SystemExit would interrupt the clean-up that the first one started.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def _end_with_parent(parent_pipe: connection.Connection) -> None:
    """Waits until the parent closes its end of the pipe or dies."""
    with contextlib.suppress(EOFError, OSError):
        parent_pipe.recv_bytes()
    os.kill(os.getpid(), signal.SIGTERM)


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
