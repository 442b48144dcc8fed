"""Defines the errors of engines, in all runtimes.

A caller of an engine or of a model can tell these errors apart:

    OSError                  the file of the network cannot be loaded
    ValueError               what is asked is wrong
      EngineError            the network fails on an input that is right
    another exception        a bug

An EngineError is a ValueError, so that commands report it in a line, and so
that callers who do not tell them apart catch one class.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path


class EngineError(ValueError):
    """A network failed, or returned values that are not finite numbers.

    The cause is not the request, but a lack of memory, the model or a bug.
    """


@contextlib.contextmanager
def named_load_errors(path: Path) -> Iterator[None]:
    """Turns the errors of a runtime that loads `path` into an OSError.

    The message names the file. A MemoryError is raised unchanged.
    """
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as error:
        # ONNX Runtime's errors have no common base class but Exception.
        raise OSError(
            f"{path} cannot be loaded; export or copy the model again: "
            f"{' '.join(str(error).split())}"
        ) from error
