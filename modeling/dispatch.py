"""Chooses for each call a function's plain version or a faster one.

modeling/ops.py contains the plain versions, in `keras.ops`. A function there
that is marked `DispatchedFunction` may have a faster version in
modeling/accelerated/, whose results differ only by rounding. The choice depends
on the first argument, and for some functions on whether the call is part of a
training step. Such a function has a keyword-only parameter that shows this:
`training`, or `seed` if the function drops elements, because only training
drops elements.

To remove the faster versions, delete modeling/accelerated/ with its tests. Then
`_find_chooser` finds nothing, and each call runs the plain version. Call the
model instead of `inference.GraphPredictor` in execution/batch_predictor.py, and
export without `kernels_to_cast` in saved_model_writer.py of serving/exporting/.
Last, remove the decorator `DispatchedFunction`, which then does nothing.
Results change only by rounding, but training and prediction become slower.
"""

import contextlib
import contextvars
import functools
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Concatenate, Generic, ParamSpec, Protocol, TypeVar

import keras

FirstT = TypeVar("FirstT")
P = ParamSpec("P")
R = TypeVar("R")

# A variable of the context, so that a thread does not switch the versions of
# another thread.
_uses_plain = contextvars.ContextVar("uses_plain", default=False)


@contextlib.contextmanager
def plain_versions() -> Iterator[None]:
    """Switches off all faster versions inside a `with` block.

    This applies to eager calls, and to graphs that are traced in the block, by
    the thread of the block.
    """
    token = _uses_plain.set(True)
    try:
        yield
    finally:
        _uses_plain.reset(token)


def uses_plain_versions() -> bool:
    """Returns whether `plain_versions` has switched off all faster versions."""
    return _uses_plain.get()


class DispatchedFunction(Generic[FirstT, P, R]):
    """A function that calls its plain version or a faster version.

    Examples:
        ```python
        outputs = dense(inputs, kernel, bias)  # the fastest version
        outputs = dense.plain(inputs, kernel, bias)  # the function below
        ```

    Attributes:
        plain: the plain version, for callers that must not use a faster one.
        training_parameter: the parameter that shows whether a call is part of a
            training step, "training" or "seed". None = no version depends on
            this.

    Raises:
        TypeError: this parameter is not keyword-only, or the function has both
            parameters.
    """

    def __init__(self, plain: Callable[Concatenate[FirstT, P], R]) -> None:
        functools.update_wrapper(self, plain)
        self.plain = plain
        self.training_parameter = _find_training_parameter(plain)

    def __call__(
        self, inputs: FirstT, /, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Calls the plain version or a faster one, depending on the arguments.

        Pass the first argument by position, because the choice depends on it.
        """
        version: Callable[Concatenate[FirstT, P], R] | None = None
        if not uses_plain_versions():
            choose_version = _find_chooser()
            version = choose_version(
                self, inputs, training=self._is_training(kwargs)
            )
        return (version or self.plain)(inputs, *args, **kwargs)

    def _is_training(self, kwargs: Mapping[str, object]) -> bool:
        if self.training_parameter == "seed":
            return kwargs.get("seed") is not None
        return bool(kwargs.get("training"))


class _Chooser(Protocol):
    """Chooses a version, as `choose_version` of modeling/accelerated/ does."""

    def __call__(
        self,
        function: DispatchedFunction[FirstT, P, R],
        inputs: FirstT,
        *,
        training: bool,
    ) -> Callable[Concatenate[FirstT, P], R] | None: ...


def _choose_plain(
    function: DispatchedFunction[FirstT, P, R],
    inputs: FirstT,
    *,
    training: bool,
) -> None:
    """Chooses the plain version, where there are no faster versions."""


def _find_training_parameter(function: Callable[..., object]) -> str | None:
    """Returns the parameter of a function that shows whether a call trains.

    Returns None if the function has no such parameter.

    Raises:
        TypeError: the parameter can be passed by position, where a
            `DispatchedFunction` would not see it, or the function has both
            `training` and `seed`.
    """
    parameters = inspect.signature(function).parameters
    names = [name for name in ("training", "seed") if name in parameters]
    if not names:
        return None
    name, *others = names
    if others or parameters[name].kind is not inspect.Parameter.KEYWORD_ONLY:
        raise TypeError(
            f"{function.__name__} must have either `training` or `seed`, as a "
            f"keyword-only parameter. Received: {inspect.signature(function)}"
        )
    return name


@functools.cache
def _find_chooser() -> _Chooser:
    """Returns `accelerated.choose_version`, if there are faster versions.

    modeling/accelerated/ imports modeling/ops.py, which uses this module, so
    this module imports the package late. The package also needs TensorFlow, and
    may have been deleted.
    """
    package = "modeling.accelerated"
    if keras.backend.backend() != "tensorflow" or not find_spec(package):
        return _choose_plain
    choose: _Chooser = importlib.import_module(package).choose_version
    return choose
