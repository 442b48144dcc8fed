"""Runs a function in worker processes, with concurrent.futures."""

import collections
import contextlib
import functools
import itertools
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, resource_tracker
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

# Number of items that `generate` sends to a process at a time.
_CHUNK_SIZE = 256
# Number of seconds after which a worker ends, even if it is still removing its
# partly written output.
_GRACE = 5


class _Call(NamedTuple):
    """A submitted task, and the file that contains its arguments or its result.

    The arguments and the result do not pass through the executor's pipes,
    because a process may be killed while it sends a long message. The executor
    would then wait forever for the rest of the message.
    """

    name: str
    file: Path
    future: futures.Future


def run(
    function: Callable, tasks: Iterable[tuple[str, tuple]], num_processes: int
) -> Generator[Any]:
    """Calls a function for each task, in worker processes.

    Args:
        function: function to call. It must be picklable.
        tasks: pairs of a task's name, for error messages, and the arguments of
            the function. Only a few tasks are queued at a time.
        num_processes: number of worker processes. 0 = one for each processor,
            1 = run in this process.

    Yields:
        the function's results, in the order of the tasks.

    Raises:
        ChildProcessError: a process was killed. The message names its task.
        Exception: any exception that the function raised.
    """
    num_processes = num_processes or len(os.sched_getaffinity(0))
    if num_processes == 1:
        yield from (function(*arguments) for _, arguments in tasks)
        return
    # Do not fork. A fork copies the locks that other threads have acquired, and
    # nobody would release them in the new process.
    context = multiprocessing.get_context("spawn")
    reader, writer = context.Pipe(duplex=False)
    others = set(multiprocessing.active_children())
    processes: set[BaseProcess] = set()
    pending: collections.deque[_Call] = collections.deque()
    with tempfile.TemporaryDirectory(prefix="workers-") as folder:
        executor = futures.ProcessPoolExecutor(
            num_processes, context, _start, (function, reader, folder)
        )
        try:
            for number, (name, arguments) in enumerate(tasks):
                file = Path(folder, str(number))
                file.write_bytes(pickle.dumps(arguments))
                # Start multiprocessing's resource tracker now. If it started
                # together with a worker, it would remove the signal mask that
                # `_delayed_interrupt` sets.
                resource_tracker.ensure_running()
                with _delayed_interrupt():
                    future = executor.submit(_call, file)
                pending.append(_Call(name, file, future))
                processes.update(multiprocessing.active_children())
                if len(pending) > 2 * num_processes:
                    yield _take_oldest(pending)
            while pending:
                yield _take_oldest(pending)
        except BrokenProcessPool:
            notes = set(os.listdir(folder))
            # Wait until all processes have ended, because `_raise_death` needs
            # their exit codes.
            writer.close()
            executor.shutdown()
            _raise_death(pending, notes, processes - others)
        finally:
            # End the workers, even if they are busy.
            writer.close()
            executor.shutdown(cancel_futures=True)
            reader.close()


@contextlib.contextmanager
def _delayed_interrupt() -> Iterator[None]:
    """Delays Ctrl-C until the `with` block ends, and blocks it in new workers.

    Otherwise a worker that is interrupted while it starts would print a
    traceback. In this process a signal mask is not enough, because another
    thread may receive the signal, so a handler records it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    handler = signal.signal(
        signal.SIGINT, lambda number, _: received.append(number)
    )
    # A worker inherits this mask, so that Ctrl-C interrupts only the parent,
    # which then ends the workers.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        for number in received[:1]:
            signal.raise_signal(number)


def _take_oldest(pending: collections.deque[_Call]) -> Any:
    """Removes the oldest call, and returns its result or raises its error."""
    name, file, future = pending[0]
    future.result()
    pending.popleft()
    error, result = pickle.loads(file.read_bytes())
    file.unlink()
    if error is not None:
        error.add_note(f"in the worker process of {name}")
        raise error
    return result


def _raise_death(
    pending: Iterable[_Call], notes: set[str], processes: Iterable[BaseProcess]
) -> NoReturn:
    """Raises an error that names the task of the process that died.

    `notes` are the names of the note files that `_call` created.
    """
    # Exit codes of the processes that did not die on their own: the executor
    # ends the other workers by SIGTERM, and `_end` exits with 1.
    ended = (None, 0, 1, -signal.SIGTERM)
    dead = [x for x in processes if x.exitcode not in ended]
    code = dead[0].exitcode or 1 if dead else 1
    # A worker that was killed during a task left a note file. If there is no
    # note, the worker had not yet begun a task, so name the oldest one.
    names = [
        call.name
        for call in pending
        if any(_note(call.file, process.pid).name in notes for process in dead)
    ]
    names += [call.name for call in pending]
    how = (
        f"killed by {signal.Signals(-code).name}"
        if code < 0
        else f"ended with status {code}"
    )
    raise ChildProcessError(
        f"the worker process of {names[0] if names else 'a task'} was {how}; "
        "if memory ran out, use fewer processes. Run the same command to resume"
    ) from None


def _note(file: Path, pid: int | None) -> Path:
    """Names an empty file that exists while the process `pid` runs a call."""
    return file.with_name(f"{file.name}-{pid}")


def generate(
    function: Callable[[Iterable], Iterable],
    items: Iterable,
    num_processes: int,
) -> Iterator:
    """Yields the results of `function(items)`, computed by several processes.

    Each task of a process is a chunk of items. Raises the same errors as `run`.

    Args:
        function: picklable function that yields the results of an iterable of
            items. The results of an item must not depend on other items.
        items: picklable items. The results are in the same order.
        num_processes: number of worker processes. 0 = one for each processor,
            1 = run in this process.
    """
    items = iter(items)
    chunks = iter(lambda: list(itertools.islice(items, _CHUNK_SIZE)), [])
    tasks = (
        (f"items from number {number * _CHUNK_SIZE + 1}", (chunk,))
        for number, chunk in enumerate(chunks)
    )
    collect = functools.partial(_collect, function)
    with contextlib.closing(run(collect, tasks, num_processes)) as results:
        yield from itertools.chain.from_iterable(results)


def _collect(function: Callable[[Iterable], Iterable], items: Iterable) -> list:
    return list(function(items))


# State of a worker process: the function to call, whether the function is
# running, and whether the process must end.
_function: Callable
_is_calling = False
_is_ending = False


def _start(
    function: Callable, reader: connection.Connection, folder: str
) -> None:
    """Initializes a worker process, whose tasks call `function`.

    `reader` is a pipe whose other end closes when the parent ends. `folder`
    contains the tasks' arguments and results.
    """
    global _function
    _function = function
    signal.signal(signal.SIGTERM, _end)
    threading.Thread(
        target=_end_with_parent, args=(reader, folder), daemon=True
    ).start()


def _end(*unused_args: object) -> NoReturn:
    """Ends a worker. A running call first removes its partial output."""
    global _is_ending
    if not _is_calling:
        # An idle worker left no partial output to remove. Exit at once, because
        # the executor would print a traceback of SystemExit.
        os._exit(1)
    # Ignore later signals, which Ctrl-C or a batch system may send. A second
    # SystemExit would interrupt the clean-up that the first one started.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _is_ending = True
    sys.exit(1)


def _end_with_parent(reader: connection.Connection, folder: str) -> None:
    """Ends this worker when the parent closes its end of the pipe or dies."""
    with contextlib.suppress(EOFError, OSError):
        reader.recv_bytes()
    # Remove the folder here, because a killed parent cannot remove it. Do it
    # before sending the signal, which may end this thread too.
    shutil.rmtree(folder, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGTERM)
    # The parent waits for this process, so end it even if the clean-up hangs.
    time.sleep(_GRACE)
    os._exit(1)


def _call(file: Path) -> None:
    """Calls the worker's function with the arguments that `file` contains.

    Replaces them by (error, result), one of which is None.
    """
    global _is_calling
    note = _note(file, os.getpid())
    note.touch()
    _is_calling = True
    try:
        result = pickle.dumps(
            (None, _function(*pickle.loads(file.read_bytes())))
        )
    except Exception as error:
        try:
            result = pickle.dumps((error, None))
            pickle.loads(result)
        except Exception:
            text = f"{type(error).__name__}: {error}"
            result = pickle.dumps((RuntimeError(text), None))
    finally:
        # If `_end` interrupted the call, exit here. Otherwise the executor or
        # an error in the function's clean-up would keep the process alive.
        if _is_ending:
            os._exit(1)
        _is_calling = False
    file.write_bytes(result)
    note.unlink()
