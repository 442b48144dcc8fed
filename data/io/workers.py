"""A pool of worker processes that reports which task's process died.

Each worker has a pipe of its own, so its death shows as the end of that pipe
whenever it happens. (`concurrent.futures` has one pipe for the results
of all workers, and waits forever for the rest of a result whose sender was
killed halfway.)
"""

import collections
import contextlib
import functools
import itertools
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import connection, resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn

# Items that `generate` sends to a process at a time.
_CHUNK_SIZE = 256

Worker = tuple[BaseProcess, connection.Connection]


def count_processors() -> int:
    """Returns the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


class WorkerPool(contextlib.AbstractContextManager):
    """Runs tasks in processes of this machine, as a context.

    Args:
        num_processes: 1 = in this process; 0 = one for each processor.
    """

    def __init__(self, num_processes: int) -> None:
        self._num_processes = num_processes or count_processors()
        self._workers: list[Worker] = []

    def __exit__(self, *unused_args: object) -> None:
        """Ends the processes."""
        for process, _ in self._workers:
            process.terminate()
        # Before their pipes close: that also ends a process, and a signal in
        # its last moments would print a traceback.
        for process, _ in self._workers:
            process.join()
        for _, pipe in self._workers:
            pipe.close()

    def run(
        self,
        function: Callable,
        tasks: Iterable[tuple[str, tuple]],
        max_ahead: int = sys.maxsize,
    ) -> Iterator[tuple[str, Any]]:
        """Calls a function for each task.

        Args:
            function: must be picklable; it is sent to each process once.
            tasks: (name for messages, arguments of the function).
            max_ahead: a task starts only when fewer than this number of tasks
                separate it from the oldest unfinished one.

        Yields:
            (the task's name, the function's result), in any order.

        Raises:
            ChildProcessError: a process was killed; the message names its
                task.
            Exception: what the function raised.
        """
        if self._num_processes == 1:
            for name, arguments in tasks:
                yield name, function(*arguments)
            return
        numbered = enumerate(tasks)
        upcoming = next(numbered, None)
        idle = list(self._workers)
        have_function = set()
        # Number and name of the task of each pipe, and its worker.
        at_work: dict[Any, tuple[int, str, Worker]] = {}
        done: list[tuple[str, Any]] = []
        while True:
            while upcoming and (
                idle or len(self._workers) < self._num_processes
            ):
                number, (name, arguments) = upcoming
                oldest = min((task[0] for task in at_work.values()), default=0)
                if at_work and number - oldest >= max_ahead:
                    break
                worker = idle.pop() if idle else self._start()
                process, pipe = worker
                sent = None if pipe in have_function else function
                try:
                    pipe.send((sent, arguments))
                except OSError:
                    _raise_death(name, process)
                have_function.add(pipe)
                at_work[pipe] = (number, name, worker)
                upcoming = next(numbered, None)
            # Only now, so that all workers are busy again.
            yield from done
            if not at_work:
                return
            done = []
            for ready in connection.wait(list(at_work)):
                _, name, worker = at_work.pop(ready)
                done.append((name, _receive(name, *worker)))
                idle.append(worker)

    def _start(self) -> Worker:
        """Returns a new worker."""
        # A fork would copy locks in any state.
        context = multiprocessing.get_context("spawn")
        with _late_interrupts():
            pipe, far_end = context.Pipe()
            process = context.Process(
                target=_work, args=(far_end,), daemon=True
            )
            process.start()
            far_end.close()
            self._workers.append((process, pipe))
        return self._workers[-1]


def generate(
    function: Callable[[Iterable], Iterable],
    items: Iterable,
    num_processes: int,
) -> Iterator:
    """Yields what `function(items)` yields, computed by several processes.

    Items go to the processes in chunks. Only a bounded number of chunks is in
    memory at a time.

    Args:
        function: takes an iterable of items and yields results; those of
            an item do not depend on other items. It can be pickled.
        items: iterable of what can be pickled.
        num_processes: 1 = in this process; 0 = one for each processor.

    Yields:
        the results, in the items' order.

    Raises:
        ChildProcessError: a process was killed.
    """
    num_processes = num_processes or count_processors()
    if num_processes == 1:
        yield from function(items)
        return
    items = iter(items)
    in_order: collections.deque[str] = collections.deque()

    def tasks() -> Iterator[tuple[str, tuple]]:
        for first in itertools.count(1, _CHUNK_SIZE):
            chunk = list(itertools.islice(items, _CHUNK_SIZE))
            if not chunk:
                return
            in_order.append(f"items {first} to {first + len(chunk) - 1}")
            yield in_order[-1], (chunk,)

    finished = {}
    with WorkerPool(num_processes) as pool:
        for name, results in pool.run(
            functools.partial(_collect, function), tasks(), 2 * num_processes
        ):
            finished[name] = results
            while in_order and in_order[0] in finished:
                yield from finished.pop(in_order.popleft())


def _collect(function: Callable[[Iterable], Iterable], items: Iterable) -> list:
    return list(function(items))


def _receive(
    name: str, process: BaseProcess, pipe: connection.Connection
) -> Any:
    """Returns the result that a worker sends, or raises its error."""
    try:
        error, result = pipe.recv()
    # OSError: the process was killed while it sent or received.
    except (EOFError, OSError):
        _raise_death(name, process)
    if error is not None:
        error.add_note(f"while making {name}")
        raise error
    return result


def _raise_death(name: str, process: BaseProcess) -> NoReturn:
    process.join()
    code = process.exitcode or 0
    how = (
        f"killed by {signal.Signals(-code).name}"
        if code < 0
        else f"ended with status {code}"
    )
    raise ChildProcessError(
        f"the process that made {name} was {how}; if memory ran out, use "
        "fewer processes. Run the same command to resume"
    ) from None


@contextlib.contextmanager
def _late_interrupts() -> Iterator[None]:
    """Delays Ctrl-C until a process has started, and blocks it there."""
    if threading.current_thread() is not threading.main_thread():
        # Ctrl-C comes to the main thread alone.
        yield
        return
    received = []
    handler = signal.signal(
        signal.SIGINT, lambda *details: received.append(details)
    )
    # The process inherits the mask if the tracker runs, whose start would lift
    # it. The handler is for this process, where a library's thread may receive
    # the signal despite the mask.
    resource_tracker.ensure_running()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    # It is not a function if a shell has the signal ignored.
    if received and callable(handler):
        handler(*received[0])


def _work(pipe: connection.Connection) -> None:
    """Runs the tasks that come through the pipe until it is closed."""
    # SIGTERM from the parent lets this process remove half-written output.
    signal.signal(signal.SIGTERM, lambda *unused_args: sys.exit(1))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    function: Any = None
    # The pipe ends when the parent does.
    with contextlib.suppress(EOFError, OSError):
        while True:
            new_function, arguments = pipe.recv()
            function = new_function or function
            pipe.send_bytes(_call(function, arguments))


def _end_with_parent() -> None:
    """Ends this process when its parent is killed."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
    """Returns (error, result) of a call, pickled."""
    try:
        return pickle.dumps((None, function(*arguments)))
    except Exception as error:
        try:
            pickled = pickle.dumps((error, None))
            pickle.loads(pickled)
        except Exception:
            error = RuntimeError(f"{type(error).__name__}: {error}")
            pickled = pickle.dumps((error, None))
        return pickled
