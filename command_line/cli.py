"""Runs a script: parses its flags, locks its folders, sets the exit status."""

import contextlib
import dataclasses
import logging as std_logging
import os
import signal
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from absl import app, logging
from absl import flags as absl_flags

from command_line import (
    arguments,
    beam_flags,
    config_values,
    flag_parsing,
    flags,
    tensorflow_logs,
    user_errors,
)
from command_line.flags import ConfigT
from command_line.path_flags import PathFlag, check_paths
from files import lock

# Exit statuses that shells use for Ctrl-C and for a broken pipe.
_INTERRUPTED_STATUS = 130
_BROKEN_PIPE_STATUS = 141

# Ctrl-C signals that this process has received.
_interrupts: list[int] = []

LOG_FORMAT = "%(asctime)s %(levelname).1s %(message)s"
PROJECT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "command_line",
    "data",
    "files",
    "imports",
    "model_folders",
    "modeling",
    "serving",
    "tools",
    "training",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _CommonConfig(flags.Config):
    """Flags that every script has."""

    debug: bool = flags.flag(
        False, "Print the traceback of any error, and TensorFlow's logs."
    )
    verbose: bool = flags.flag(
        False,
        "Also log the first examples, and every variable that is loaded.",
    )


def run(
    main: Callable[[flags.ParsedCommand[ConfigT]], int | None],
    config: type[ConfigT],
    takes_beam_flags: bool = False,
    takes_arguments: bool = False,
) -> None:
    """Defines the flags of a script, and runs `main` with absl's app.run.

    An error in the user's input is printed in one line and ends the script with
    status 1. --debug prints the traceback of the error. Ctrl-C ends the script
    with status 130. signals.py says how a script also stops at SIGTERM.

    Args:
        main: function (flags.ParsedCommand) -> exit status.
        config: class of the script's flags. See command_line/flags.py.
        takes_beam_flags: True if `config` contains `BeamFlags`. With
            --pipeline=beam, `ParsedCommand.arguments` then contains all flags
            that the script does not define. Otherwise such flags are errors.
        takes_arguments: True if `ParsedCommand.arguments` may contain arguments
            that are not flags. Otherwise such arguments are errors.
    """
    script = sys.modules[main.__module__]
    script_name = flag_parsing.script_name()
    required = flag_parsing.define_flags(config, script_name)
    flag_parsing.define_flags(_CommonConfig, script_name)
    _install_handlers()
    is_on_beam = takes_beam_flags and beam_flags.is_beam_requested(sys.argv)
    # Otherwise absl leaves the flags that follow `--name value` of Beam
    # unparsed.
    absl_flags.FLAGS.set_gnu_getopt(is_on_beam)

    def run_main(argv: list[str]) -> int | None:
        rest = argv[1:]
        _choose_what_to_log()
        if rest and not (is_on_beam or takes_arguments):
            return user_errors.print_error(
                f"every argument must be a flag, --name=value. Received: {rest}"
            )
        return _run_guarded(main, config, rest)

    try:
        app.run(
            run_main,
            flags_parser=lambda argv: arguments.parse_arguments(
                argv, required, is_on_beam, script.__doc__ or ""
            ),
        )
    except KeyboardInterrupt as error:
        status = getattr(error, "status", _INTERRUPTED_STATUS)
        sys.exit(user_errors.print_error(str(error) or "interrupted", status))
    except BrokenPipeError:
        # The reader closed the pipe, as in --help | head. Exit like a process
        # that SIGPIPE ends. Python would fail to flush stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_BROKEN_PIPE_STATUS)


def _install_handlers() -> None:
    """Logs in this project's format, and remembers Ctrl-C."""
    logging.use_absl_handler()
    handler = logging.get_absl_handler()
    handler.setFormatter(std_logging.Formatter(LOG_FORMAT, "%H:%M:%S"))
    handler.addFilter(_is_ours_or_urgent)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def _choose_what_to_log() -> None:
    """Sets what is logged, from the flags that every script has."""
    options = absl_flags.FLAGS
    if not options["verbosity"].present:
        level = logging.DEBUG if options.verbose else logging.INFO
        logging.set_verbosity(level)
    if not options.debug:
        tensorflow_logs.silence_tensorflow()


def _is_ours_or_urgent(record: std_logging.LogRecord) -> bool:
    """Returns whether to log a record, which may be of another library.

    Keras and TensorFlow log through absl too.
    """
    path = Path(record.pathname).resolve()
    # If the project is installed, PROJECT is the folder of all packages.
    is_ours = path.parent == PROJECT or any(
        PROJECT / package in path.parents for package in PACKAGES
    )
    return is_ours or record.levelno >= std_logging.WARNING


def _interrupt(signal_number: int, frame: types.FrameType | None) -> None:
    _interrupts.append(signal_number)
    signal.default_int_handler(signal_number, frame)


def _run_guarded(
    main: Callable[[flags.ParsedCommand[ConfigT]], int | None],
    config: type[ConfigT],
    rest: Sequence[str],
) -> int | None:
    """Locks the output paths, runs `main`, and prints errors in one line.

    `rest` are the arguments that are not flags of the script. Returns the exit
    status.
    """
    path_flags: list[PathFlag] = []
    try:
        parsed = flag_parsing.parse_flags(config, rest)
        prepared = parsed.config.prepare(parsed.set_by_user)
        path_flags += config_values.list_path_flags(prepared)
        check_paths(path_flags)
        prepared = prepared.download()
        with _locked(path_flags if prepared.is_chief else ()):
            return main(dataclasses.replace(parsed, config=prepared))
    except BrokenPipeError:
        raise
    except Exception as error:
        if _interrupts:
            # TensorFlow may turn Ctrl-C into another error.
            raise KeyboardInterrupt from error
        if absl_flags.FLAGS.debug or not user_errors.is_user_error(error):
            raise
        return user_errors.print_error(
            user_errors.describe_error(error, path_flags)
        )


@contextlib.contextmanager
def _locked(path_flags: Iterable[PathFlag]) -> Iterator[None]:
    """Holds the locks of the paths that flags name, in a `with` block."""
    with contextlib.ExitStack() as stack:
        for flag in path_flags:
            if path := flag.lock_file:
                stack.enter_context(lock.hold_lock(path, str(flag)))
        yield
