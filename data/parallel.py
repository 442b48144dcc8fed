"""A generator's work shared out among processes, its order kept."""

import collections
import itertools
import multiprocessing
import os
from concurrent import futures

_CHUNK_SIZE = 256


def generate(function, items, num_processes):
    """Yields what `function(items)` yields, made by several processes.

    Items go to the processes in chunks, of which a bounded number is under
    way at any time, so memory does not grow with their number.

    Args:
        function: takes an iterable of items and yields results, those of
            each item depending on no other. It is pickled once a process.
        items: iterable of what can be pickled.
        num_processes: 1 = in this process; 0 = one for each processor.

    Yields:
        the results, in the items' order.

    Raises:
        ChildProcessError: a process was killed.
    """
    num_processes = num_processes or len(os.sched_getaffinity(0))
    if num_processes == 1:
        yield from function(items)
        return
    items = iter(items)
    pool = futures.ProcessPoolExecutor(
        num_processes,
        # A fork of a process that runs TensorFlow's threads can lock up.
        multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(function,),
    )
    with pool:
        under_way = collections.deque()
        try:
            while chunk := list(itertools.islice(items, _CHUNK_SIZE)):
                under_way.append(pool.submit(_run_worker, chunk))
                if len(under_way) > 2 * num_processes:
                    yield from under_way.popleft().result()
            while under_way:
                yield from under_way.popleft().result()
        except futures.process.BrokenProcessPool as error:
            raise ChildProcessError(
                f"one of {num_processes} processes was killed; was there too "
                "little memory for them? Use fewer"
            ) from error


# Set once in each process: a tokenizer is too large to go with each chunk.
_function = None


def _start_worker(function):
    global _function
    _function = function


def _run_worker(chunk):
    return list(_function(chunk))
