"""Runs a function in worker processes.

concurrent.futures.ProcessPoolExecutor may wait forever for a worker that was
killed while it sent a result, because its workers share one pipe. So this
module starts processes of its own.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from multiprocessing import connection, resource_tracker
from multiprocessing.process import BaseProcess
from typing import (
    Any,
    NamedTuple,
    NoReturn,
    TypeVar,
    TypeVarTuple,
)

from data.parallel_jobs.cpus import count_cpus

T = TypeVar("T")
# Types of the arguments of a call.
Arguments = TypeVarTuple("Arguments")


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
            CPU, and 1 runs the calls in this process.

    Yields:
        the function's results, in the order in which the calls end.

    Raises:
        ChildProcessError: a process was killed.
        Exception: any exception that the function raised.
    """
    num_processes = num_processes or count_cpus()
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


class _CallResult(NamedTuple):
    """The result of a call, which a worker process sends to its parent.

    Attributes:
        value: what the call returned.
        error: the error that the call raised, None if it returned.
    """

    value: Any = None
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
            # If the process was killed, `recv` below fails.
            with contextlib.suppress(BrokenPipeError):
                pipe.send(arguments)
            busy.add(pipe)
        ended = connection.wait(busy) if busy else ()
        idle = [pipe for pipe in busy if pipe in ended]
        for pipe in idle:
            try:
                call_result: _CallResult = pipe.recv()
            except (EOFError, OSError):
                _raise_death(processes[pipe])
            if call_result.error is not None:
                raise call_result.error
            busy.remove(pipe)
            yield call_result.value


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
                target=make_calls,
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


def make_calls(
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
                call_result = _CallResult(value=function(*arguments))
            except Exception as error:
                call_result = _CallResult(error=error)
            pipe.send(call_result)
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
