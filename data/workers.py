"""Tasks shared out among processes, with a word on the one that failed."""

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from multiprocessing import connection, resource_tracker


def count_processors():
    """Returns the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


class LocalExecutor(contextlib.AbstractContextManager):
    """Runs tasks in processes of this machine, as a context.

    Args:
        num_processes: 1 = in this process; 0 = one for each processor.
    """

    def __init__(self, num_processes):
        self._num_processes = num_processes or count_processors()
        self._workers = []

    def __exit__(self, *unused_args):
        """Ends the processes."""
        for process, pipe in self._workers:
            # One way to be told at a time: a signal in the last moments of a
            # process that found its pipe closed would print a traceback.
            process.terminate()
            process.join()
            pipe.close()

    def run(self, function, tasks):
        """Calls a function for each task, in any order.

        Args:
            function: can be pickled; what it returns is not looked at.
            tasks: dict of a name for messages to the function's arguments.

        Yields:
            the name of each task when it is done.

        Raises:
            ChildProcessError: a process was killed; the message names the
                task it was at.
            Exception: what the function raised.
        """
        if self._num_processes == 1:
            for name, arguments in tasks.items():
                function(*arguments)
                yield name
            return
        waiting = iter(tasks.items())
        idle = self._start(min(self._num_processes, len(tasks)))
        at_work = {}
        while True:
            for worker in idle:
                name, arguments = next(waiting, (None, None))
                if name is not None:
                    worker[1].send((function, arguments))
                    at_work[worker[1]] = (name, worker)
            if not at_work:
                return
            idle = []
            for pipe in connection.wait(list(at_work)):
                name, worker = at_work.pop(pipe)
                self._receive(name, *worker)
                idle.append(worker)
                yield name

    def _start(self, count):
        """Returns `count` workers, started where there are too few."""
        # A fork would copy locks in whatever state they are.
        context = multiprocessing.get_context("spawn")
        while len(self._workers) < count:
            with _late_interrupts():
                pipe, far_end = context.Pipe()
                process = context.Process(
                    target=_work, args=(far_end,), daemon=True
                )
                process.start()
                far_end.close()
                self._workers.append((process, pipe))
        return self._workers[:count]

    def _receive(self, name, process, pipe):
        try:
            error = pipe.recv()
        except EOFError:
            process.join()
            code = process.exitcode
            how = (
                f"killed by {signal.Signals(-code).name}"
                if code < 0
                else f"ended with status {code}"
            )
            raise ChildProcessError(
                f"the process that made {name} was {how}; if memory ran out, "
                "use fewer processes. Run the same command to go on"
            ) from None
        if error is not None:
            error.add_note(f"while making {name}")
            raise error


@contextlib.contextmanager
def _late_interrupts():
    """Has Ctrl-C wait until a process is whole, and never reach it."""
    if threading.current_thread() is not threading.main_thread():
        # Ctrl-C comes to the main thread alone.
        yield
        return
    received = []
    handler = signal.signal(
        signal.SIGINT, lambda *details: received.append(details)
    )
    # The process inherits the mask, if the tracker runs, whose start would
    # lift it. The handler is for this process, where a thread of a library
    # may take the signal in spite of the mask.
    resource_tracker.ensure_running()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    # It is no function where a shell has the signal ignored.
    if received and callable(handler):
        handler(*received[0])


def _work(pipe):
    """Does what comes through the pipe until it is closed."""
    # What is half written goes when the parent gives up.
    signal.signal(signal.SIGTERM, lambda *unused_args: sys.exit(1))
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            return
        try:
            function(*arguments)
            pipe.send(None)
        except Exception as error:
            try:
                pickle.loads(pickle.dumps(error))
            except Exception:
                error = RuntimeError(f"{type(error).__name__}: {error}")
            pipe.send(error)
