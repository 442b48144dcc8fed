"""Keeps the logs of TensorFlow out of the output of scripts."""

import contextlib
import importlib.machinery
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType


def silence_tensorflow() -> None:
    """Silences the logs of TensorFlow, XLA and CUDA, but not their exceptions.

    Call this function before TensorFlow is imported.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    if "tensorflow" not in sys.modules:
        sys.meta_path.insert(0, _QuietImport())


# TensorFlow's native code logs while it loads, before it reads any setting.
class _QuietImport:
    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns TensorFlow's import spec, None for other modules."""
        if name != "tensorflow":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        loader = spec.loader
        execute = loader.exec_module

        # A caller may ask for the spec without importing TensorFlow, so this
        # finder stays in place until the import.
        def exec_module(module: ModuleType) -> None:
            sys.meta_path.remove(self)
            with _silent_stderr():
                execute(module)

        setattr(loader, "exec_module", exec_module)  # noqa: B010  a method
        return spec


@contextlib.contextmanager
def _silent_stderr() -> Iterator[None]:
    sys.stderr.flush()
    stderr = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)
