"""Decides whether an error is the user's or a bug, and writes its message."""

import sys
from collections.abc import Sequence

from dependencies import installation
from options.path_flags import PathFlag

# Errors in the user's input. Any other error is a bug, shown with a traceback.
_USER_ERRORS = (ValueError, OSError, MemoryError)
_TF_ERRORS = (
    "AbortedError",
    "DataLossError",
    "NotFoundError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnavailableError",
)


def is_user_error(error: Exception) -> bool:
    """Returns whether an error is due to the user's input or environment."""
    # Importing TensorFlow here would take seconds.
    tf = sys.modules.get("tensorflow")
    tensorflow_errors = (
        [getattr(tf.errors, name) for name in _TF_ERRORS] if tf else []
    )
    return isinstance(
        error, (ModuleNotFoundError, *_USER_ERRORS, *tensorflow_errors)
    )


def describe_error(error: Exception, path_flags: Sequence[PathFlag]) -> str:
    """Returns the message of an error of the user.

    Args:
        error: the error, of which `is_user_error` is True.
        path_flags: flags of the script that name files. The message begins with
            the flag that names the file in the error.
    """
    if isinstance(error, ModuleNotFoundError):
        return f"{error}: {installation.install_command(error.name)}"
    if _is_lost_worker(error):
        return (
            "another worker was lost: start all of them again. They resume "
            "from the last checkpoint"
        )
    if isinstance(error, MemoryError):
        # Python's own MemoryError has no message, and NumPy's names the array.
        reason = (
            "There is not enough memory. Use a smaller batch, length or model, "
            "and check the sizes that the files of the model state"
        )
        return f"{error}. {reason}" if str(error) else reason
    if isinstance(error, OSError) and error.filename is not None:
        for flag in path_flags:
            if error.filename in flag.paths:
                return f"--{flag.flag}={error.filename}: {error.strerror}"
    return str(error)


def print_error(error: object, status: int = 1) -> int:
    """Prints an error in one line, and returns the exit status `status`."""
    print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
    return status


def _is_lost_worker(error: Exception) -> bool:
    """Returns whether TensorFlow could not reach another worker."""
    # The message of such an error is a stack of calls.
    return type(error).__name__ in (
        "AbortedError",
        "UnavailableError",
    ) and "Collective ops is aborted" in str(error)
