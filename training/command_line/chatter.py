"""Keeps the logs of other libraries out of the output of scripts."""

import contextlib
import importlib.machinery
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any


def silence_tensorflow() -> None:
    """Silences the logs of TensorFlow, XLA and CUDA, but not their exceptions.

    Call this function before TensorFlow is imported.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    if "tensorflow" not in sys.modules:
        sys.meta_path.insert(0, _QuietImport())


class _QuietImport:
    """Prevents `import tensorflow` from writing to stderr.

    TensorFlow's native code logs while it loads, before it reads any setting.
    """

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Returns TensorFlow's import spec, None for other modules."""
        if name != "tensorflow":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        # A caller may ask for the spec without importing TensorFlow, so this
        # finder stays in place until the import.
        def exec_module(module: Any) -> None:
            sys.meta_path.remove(self)
            with _silent_stderr():
                execute(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


@contextlib.contextmanager
def _silent_stderr() -> Iterator[None]:
    """Hides the stderr output of a `with` block, unless the block fails."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as written:
        stderr = os.dup(2)
        os.dup2(written.fileno(), 2)
        try:
            yield
        except BaseException:
            written.seek(0)
            os.write(stderr, written.read())
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
