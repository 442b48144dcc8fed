"""Runs a function in worker processes, with concurrent.futures."""

import collections
import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from concurrent import futures
from multiprocessing import connection, resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn

# Maximum number of seconds that a worker spends on removing its partial output
# before it ends.
_GRACE = 5


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
    # concurrent.futures.ProcessPoolExecutor may wait forever for a worker that
    # was killed (in Python 3.11), so threads start processes of their own. They
    # do not fork. A forked process would copy locks that other threads have
    # acquired, and no thread of the new process would release them.
    context = multiprocessing.get_context("spawn")
    # Start multiprocessing's resource tracker now. Otherwise the thread that
    # starts the first worker would start it, which would unblock SIGINT in this
    # thread. The executor below blocks SIGINT in its threads.
    resource_tracker.ensure_running()
    reader, writer = context.Pipe(duplex=False)
    processes: list[BaseProcess] = []
    # Each thread of the executor starts its own worker process.
    local = threading.local()

    def call(name: str, arguments: tuple) -> Any:
        if not hasattr(local, "process"):
            pipe, theirs = context.Pipe()
            with theirs:
                process = context.Process(
                    target=_work, args=(function, theirs, reader)
                )
                process.start()
            processes.append(process)
            local.pipe, local.process, local.lost = pipe, process, None
        try:
            local.pipe.send_bytes(pickle.dumps(arguments))
            answer = local.pipe.recv_bytes()
        except (EOFError, OSError):
            local.process.join()
            local.lost = local.lost or name
            _raise_death(local.lost, local.process.exitcode)
        error, result = pickle.loads(answer)
        if error is not None:
            error.add_note(f"in the worker process of {name}")
            raise error
        return result

    # Block SIGINT in the threads. The workers inherit this, so that Ctrl-C
    # interrupts only this process, which then ends the workers.
    executor = futures.ThreadPoolExecutor(
        num_processes,
        initializer=signal.pthread_sigmask,
        initargs=(signal.SIG_BLOCK, {signal.SIGINT}),
    )
    pending: collections.deque[futures.Future] = collections.deque()
    try:
        for name, arguments in tasks:
            pending.append(executor.submit(call, name, arguments))
            if len(pending) > 2 * num_processes:
                yield _take_oldest(pending)
        while pending:
            yield _take_oldest(pending)
    finally:
        # Closing the pipe ends the workers, even if they are busy.
        writer.close()
        executor.shutdown(cancel_futures=True)
        for process in processes:
            process.join()
        reader.close()


def _take_oldest(pending: collections.deque[futures.Future]) -> Any:
    # Waits for the oldest call, and returns its result or raises its error. If
    # the process of another call dies meanwhile, raises that call's error.
    while not pending[0].done():
        done = {future for future in pending if future.done()}
        for future in done:
            if isinstance(error := future.exception(), ChildProcessError):
                raise error
        futures.wait(set(pending) - done, return_when=futures.FIRST_COMPLETED)
    return pending.popleft().result()


def _raise_death(name: str, code: int) -> NoReturn:
    how = (
        f"killed by {signal.Signals(-code).name}"
        if code < 0
        else f"ended with status {code}"
    )
    raise ChildProcessError(
        f"the worker process of {name} was {how}; if memory ran out, use fewer "
        "processes. Run the same command to resume"
    ) from None


# Whether this worker process must end.
_is_ending = False


def _work(
    function: Callable,
    pipe: connection.Connection,
    reader: connection.Connection,
) -> None:
    # Calls the function in a worker process, for each message from the parent.
    # A message contains the arguments of a call. The answer is (error, result).
    # The parent closes the other end of `reader` to tell the workers to exit.
    signal.signal(signal.SIGTERM, _end)
    threading.Thread(
        target=_end_with_parent, args=(reader,), daemon=True
    ).start()
    # If the parent died, end without a traceback.
    with contextlib.suppress(EOFError, OSError):
        while True:
            message = pipe.recv_bytes()
            try:
                answer = pickle.dumps((None, function(*pickle.loads(message))))
            except Exception as error:
                try:
                    answer = pickle.dumps((error, None))
                    pickle.loads(answer)
                except Exception:
                    text = f"{type(error).__name__}: {error}"
                    answer = pickle.dumps((RuntimeError(text), None))
            finally:
                # If `_end` interrupted the call, exit here. SystemExit does not
                # suffice: an error in the function's clean-up would replace it
                # and keep the process alive.
                if _is_ending:
                    os._exit(1)
            pipe.send_bytes(answer)


def _end(*unused_args: object) -> NoReturn:
    # Handles SIGTERM: ends this worker after it removes its partial output.
    global _is_ending
    # Ignore later signals, which Ctrl-C or a batch system may send. A second
    # SystemExit would interrupt the clean-up that the first one started.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _is_ending = True
    sys.exit(1)


def _end_with_parent(reader: connection.Connection) -> None:
    # Ends this worker when the parent closes its end of the pipe or dies.
    with contextlib.suppress(EOFError, OSError):
        reader.recv_bytes()
    os.kill(os.getpid(), signal.SIGTERM)
    # The parent waits for this process, so end it even if the clean-up hangs.
    time.sleep(_GRACE)
    os._exit(1)
