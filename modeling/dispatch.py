"""Chooses for each call a function's plain version or a faster one.

modeling/ops.py contains the plain versions, in `keras.ops`. A function there
that is marked `dispatched` may have a faster version in modeling/accelerated/,
whose results differ only by rounding. The choice depends on the first argument,
and for some functions on whether the call is part of a training step. The mark
names the keyword-only parameter that shows this: `training`, or `seed` if the
function drops elements, because only training drops elements.

For example, modeling/ops.py contains:

    @dispatched(training_parameter="training")
    def activation(inputs, hidden_act, *, training): ...

1. The mark makes `ops.activation` a `DispatchedFunction`, whose `plain` is the
   function.
2. An encoder calls `ops.activation(inputs, "gelu", training=True)`, which asks
   `choose_version` of accelerated/version_choice.py for a faster version.
3. In training, that is `compiled.activation`, if the inputs are wide. It is
   called with the same arguments. If `choose_version` returns None, the plain
   version is called.

On other backends than TensorFlow, and without the folder
modeling/accelerated/, each call runs the plain version.
"""

import contextlib
import contextvars
import functools
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import (
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
)

import keras

FirstT = TypeVar("FirstT")
P = ParamSpec("P")
R = TypeVar("R")
# A parameter that shows whether a call is part of a training step.
TrainingParameter: TypeAlias = Literal["training", "seed"]

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
            training step. If None, no version depends on this.
    """

    def __init__(
        self,
        plain: Callable[Concatenate[FirstT, P], R],
        training_parameter: TrainingParameter | None,
    ) -> None:
        functools.update_wrapper(self, plain)
        self.plain = plain
        self.training_parameter = training_parameter

    def __call__(
        self, inputs: FirstT, /, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Calls the plain version or a faster one, depending on the arguments.

        Pass the first argument by position, because the choice depends on it.
        """
        version: Callable[Concatenate[FirstT, P], R] | None = None
        if not uses_plain_versions():
            choose_version = _import_chooser()
            version = choose_version(
                self, inputs, training=self._is_training(kwargs)
            )
        return (version or self.plain)(inputs, *args, **kwargs)

    def _is_training(self, kwargs: Mapping[str, object]) -> bool:
        """Returns whether the call is part of a training step.

        Only training drops elements, and only a call that does has a seed.
        """
        if self.training_parameter == "seed":
            return kwargs.get("seed") is not None
        return bool(kwargs.get("training"))


class _Mark(Protocol):
    """Marks a function, as the decorator that `dispatched` returns."""

    def __call__(
        self, plain: Callable[Concatenate[FirstT, P], R], /
    ) -> DispatchedFunction[FirstT, P, R]: ...


def dispatched(training_parameter: TrainingParameter | None = None) -> _Mark:
    """Marks a function whose calls may run a faster version.

    Examples:
        ```python
        @dispatched(training_parameter="seed")
        def dropout(inputs, dropout_prob, *, seed): ...
        ```

    Args:
        training_parameter: the keyword-only parameter of the function that
            shows whether a call is part of a training step. If None, no version
            depends on this.

    Returns:
        a decorator, which raises a TypeError if the function has no such
        keyword-only parameter.
    """

    def mark(
        plain: Callable[Concatenate[FirstT, P], R],
    ) -> DispatchedFunction[FirstT, P, R]:
        if training_parameter:
            # A call could pass another parameter by position, where
            # `DispatchedFunction` would not see it.
            specification = inspect.getfullargspec(plain)
            if training_parameter not in specification.kwonlyargs:
                raise TypeError(
                    f"{plain.__name__} must have the keyword-only parameter "
                    f"`{training_parameter}`"
                )
        return DispatchedFunction(plain, training_parameter)

    return mark


class _Chooser(Protocol):
    """Chooses a version, as `choose_version` of version_choice.py does."""

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


@functools.cache
def _import_chooser() -> _Chooser:
    """Returns `choose_version`, if there are faster versions.

    The network computes the same without the folder modeling/accelerated/.
    """
    package = "modeling.accelerated"
    if keras.backend.backend() != "tensorflow" or not find_spec(package):
        return _choose_plain
    # Imported late, because the package imports modeling/ops.py, which uses
    # this module.
    version_choice = importlib.import_module(f"{package}.version_choice")
    choose: _Chooser = version_choice.choose_version
    return choose
