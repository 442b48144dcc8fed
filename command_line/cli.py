"""Runs a script: checks its paths, locks its outputs, sets the exit status."""

import contextlib
import dataclasses
import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeAlias

from absl import app, logging
from absl import flags as absl_flags  # noqa: TID251  reads --debug

from command_line import flags, user_errors
from files import lock
from options.config import Config, ConfigT
from options.parsed_command import ParsedCommand
from options.path_flags import PathFlag, check_paths, list_path_flags
from terminal import logs, signals

# Exit statuses that shells use for Ctrl-C, and for a process that SIGPIPE ends
# because the reader of its output is gone.
_INTERRUPTED_STATUS = 130
_BROKEN_PIPE_STATUS = 141

# The main function of a script, which returns its exit status. None means 0.
Main: TypeAlias = Callable[[ParsedCommand[ConfigT]], int | None]


@dataclasses.dataclass(frozen=True)
class Command(Generic[ConfigT]):
    """A script's `main` and its flags. Calling a command runs the script.

    For example, `command = Command(main, SquadConfig)`. If the project is
    installed, `command` is what the script's name in a shell calls.

    Attributes:
        main: function (ParsedCommand) -> exit status. --help shows the
            docstring of its module.
        config_class: class of the script's flags. See options/config.py.
        may_have_beam_flags: True if `config_class` contains `BeamOptions`. With
            --pipeline=beam, `ParsedCommand.arguments` then contains all flags
            that the script does not define. Otherwise such flags are errors.
        may_have_arguments: True if `ParsedCommand.arguments` may contain
            arguments that are not flags, such as texts. Otherwise such
            arguments are errors.
    """

    main: Main[ConfigT]
    config_class: type[ConfigT]
    may_have_beam_flags: bool = False
    may_have_arguments: bool = False

    def __call__(self) -> None:
        """Defines the flags of the script, and runs `main` with `sys.argv`.

        An error in the user's input is printed in one line and ends the script
        with status 1. --debug prints the traceback of the error. Ctrl-C ends
        the script with status 130. signals.py says how a script also stops at
        SIGTERM.
        """
        is_on_beam = self.may_have_beam_flags and flags.is_beam_requested(
            sys.argv
        )
        required = _define_flags(self.config_class, is_on_beam)
        logs.install_log_handler()
        ctrl_c = signals.CtrlC()
        ctrl_c.watch()
        parse = functools.partial(
            flags.parse_arguments,
            required=required,
            is_on_beam=is_on_beam,
            purpose=sys.modules[self.main.__module__].__doc__ or "",
        )
        run_main = functools.partial(
            self._run_main, ctrl_c=ctrl_c, is_on_beam=is_on_beam
        )
        try:
            # This calls `parse` with the command line, then `run_main` with
            # what `parse` returns. It exits with the status of `run_main`.
            app.run(run_main, flags_parser=parse)
        except KeyboardInterrupt as error:
            sys.exit(_print_interrupt(error))
        except BrokenPipeError:
            # The reader closed the pipe: --help | head.
            _drop_stdout()
            sys.exit(_BROKEN_PIPE_STATUS)

    def _run_main(
        self, argv: Sequence[str], *, ctrl_c: signals.CtrlC, is_on_beam: bool
    ) -> int | None:
        """Reads the flags, checks the paths, locks the outputs, runs `main`.

        Returns the exit status. It prints an error of the user in one line, and
        then returns 1. Any other error passes, and so does each error with
        --debug.

        Args:
            argv: the name of the script, and the arguments that are not its
                flags. absl has parsed the flags.
            ctrl_c: remembers Ctrl-C, which a library may turn into an error.
            is_on_beam: whether the arguments are flags of Beam.
        """
        _configure_logging()
        arguments = argv[1:]
        if arguments and not (is_on_beam or self.may_have_arguments):
            return user_errors.print_error(
                "every argument must be a flag, --name=value. "
                f"Received: {arguments}"
            )
        path_flags: Sequence[PathFlag] = ()
        try:
            parsed = flags.create_parsed_command(self.config_class, arguments)
            parsed = parsed.apply_implied_flags()
            parsed.config.check_early()
            path_flags = list_path_flags(parsed.config)
            check_paths(path_flags)
            with _hold_locks(path_flags if parsed.config.locks_outputs else ()):
                return self.main(parsed)
        except BrokenPipeError:
            raise
        except Exception as error:
            if ctrl_c.was_pressed:
                raise KeyboardInterrupt from error
            if absl_flags.FLAGS.debug or not user_errors.is_user_error(error):
                raise
            message = user_errors.describe_error(error, path_flags)
            return user_errors.print_error(message)


def _define_flags(config_class: type[Config], is_on_beam: bool) -> list[str]:
    """Defines the flags of a script, and returns names of required flags."""
    script_name = flags.script_name()
    required = flags.define_flags(config_class, script_name)
    flags.define_flags(flags.CommonConfig, script_name)
    # Otherwise absl leaves the flags that follow `--name value` of Beam
    # unparsed.
    absl_flags.FLAGS.set_gnu_getopt(is_on_beam)
    return required


def _configure_logging() -> None:
    """Sets what is logged, from the flags that every script has."""
    flag_values = absl_flags.FLAGS
    if not flag_values["verbosity"].present:
        level = logging.DEBUG if flag_values.verbose else logging.INFO
        logging.set_verbosity(level)
    if not flag_values.debug:
        logs.silence_tensorflow()


@contextlib.contextmanager
def _hold_locks(path_flags: Iterable[PathFlag]) -> Iterator[None]:
    """Holds the locks of the paths that flags name, in a `with` block."""
    with contextlib.ExitStack() as stack:
        for flag in path_flags:
            if path := flag.lock_file:
                stack.enter_context(lock.hold_lock(path, str(flag)))
        yield


def _print_interrupt(error: KeyboardInterrupt) -> int:
    """Prints that Ctrl-C, or a signal of signals.py, ended the script.

    Returns the exit status.
    """
    status = _INTERRUPTED_STATUS
    if isinstance(error, signals.SignalInterrupt):
        status = error.status
    return user_errors.print_error(str(error) or "interrupted", status)


def _drop_stdout() -> None:
    """Drops the unwritten output for a pipe whose reader is gone.

    Python would fail to flush it when the process ends.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
