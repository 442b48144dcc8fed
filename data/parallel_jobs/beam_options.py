"""Options of a script that can run on Apache Beam, and Beam's own flags.

A script with `BeamOptions` accepts the flags of Beam beside its own.

Beam itself ignores a flag that it does not know. A typing error in a flag would
then run a job with the default.
"""

import argparse
import dataclasses
import difflib
import re
import types
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from dependencies.installation import install_command
from options import fields

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

# {runner that Beam knows only by the name of its class: name of the class}.
_CLASS_OF_RUNNER = {
    "daskrunner": "apache_beam.runners.dask.dask_runner.DaskRunner",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class BeamOptions:
    """Flags of a script whose work Apache Beam can distribute."""

    pipeline: str | None = fields.option(
        None,
        "local: run in processes on this machine. beam: run on Apache Beam. "
        "With beam, the script also accepts Beam's own flags, and all workers "
        "must be able to read and write the files under the same paths.",
        choices=["local", "beam"],
    )
    beam_option: Sequence[str] | None = fields.option(
        None,
        "NAME=VALUE, an option that a service reads and that the installed "
        "Beam does not know. Repeat the flag for more options.",
        is_repeated=True,
    )

    def parse(
        self,
        arguments: Sequence[str],
        num_processes: int | None = None,
        own_names: Sequence[str] = (),
    ) -> "PipelineOptions | None":
        """Returns the options of the pipeline, None for --pipeline=local.

        Args:
            arguments: the arguments that are no flags of the script. They are
                ignored with --pipeline=local.
            num_processes: the script's --num_processes, None if it is not set.
            own_names: names of the script's own flags, which an error about an
                unknown flag may suggest.

        Raises:
            ValueError: --beam_option is set without --pipeline=beam, or
                --num_processes is set with --pipeline=beam. Or `parse_options`
                raises an error.
        """
        others = self.beam_option or []
        if self.pipeline == "beam":
            if num_processes is not None:
                raise ValueError(
                    f"--num_processes={num_processes} cannot be used with "
                    "--pipeline=beam, whose workers the flags of the --runner "
                    "set, such as --direct_num_workers; remove one of the two"
                )
            return parse_options(arguments, others, own_names)
        if others:
            raise ValueError(
                f"--beam_option={others[0]} is for --pipeline=beam. Set both "
                "flags, or neither"
            )
        return None


def parse_options(
    arguments: Sequence[str],
    others: Sequence[str] = (),
    own_names: Sequence[str] = (),
) -> "PipelineOptions":
    """Returns the options of a Beam pipeline.

    Args:
        arguments: Beam's flags, in every form that Beam accepts.
        others: "name=value" of each option that a service or a runner reads,
            and that the installed Beam does not know.
        own_names: names of the script's own flags, which an error may suggest.

    Raises:
        ValueError: Apache Beam or the runner is not installed, a value is
            wrong or absent, or neither Beam nor the script knows a flag. The
            message names the flag that is spelled most alike.
    """
    _check_options(others)
    beam = _import_beam()
    options_class: type[PipelineOptions] = (
        beam.options.pipeline_options.PipelineOptions
    )
    arguments = _import_runner(beam, options_class, arguments)
    parser = _create_parser(options_class)
    values, unknown = _parse_known(parser, arguments)
    names = {
        name for action in parser._actions for name in action.option_strings
    }
    if unknown:
        own = [f"--{name}" for name in own_names]
        raise ValueError(_describe_unknown(unknown, {*names, *own}))
    if values.no_wait_until_finish:
        raise ValueError(
            "--no_wait_until_finish cannot be used, because the script "
            "combines the results of the pipeline"
        )
    return options_class(
        [
            *arguments,
            *(f"--{option}" for option in others),
            *_list_dask_flags(values, names),
        ]
    )


def _list_dask_flags(
    values: argparse.Namespace, names: Collection[str]
) -> list[str]:
    """Returns a flag for Dask's runner, unless the user set one like it.

    By default, Beam puts 128 tasks into one partition, which one worker
    computes.

    Args:
        values: values of Beam's flags.
        names: the flags of Beam that exist now, with their dashes.
    """
    if "--dask_partition_size" not in names:
        return []
    has_partitions = values.npartitions or values.partition_size
    return [] if has_partitions else ["--dask_partition_size=1"]


def _check_options(others: Sequence[str]) -> None:
    """Raises a ValueError if a --beam_option has no value."""
    for option in others:
        if not re.match("[^=]+=", option):
            raise ValueError(
                f"--beam_option={option} has no value. Write it as "
                "--beam_option=NAME=VALUE, such as NAME=true"
            )


def _import_beam() -> types.ModuleType:
    try:
        # Only a job on Beam needs Beam, whose import takes seconds.
        import apache_beam as beam
    except ImportError as error:
        raise ValueError(
            f"--pipeline=beam needs Apache Beam: "
            f"{install_command('apache_beam')}"
        ) from error
    module: types.ModuleType = beam
    return module


def _import_runner(
    beam: types.ModuleType,
    options_class: type["PipelineOptions"],
    arguments: Sequence[str],
) -> Sequence[str]:
    """Imports the runner that Beam's flags name, whose flags then exist.

    Returns the flags, with the name of the runner as Beam spells it.
    """
    parser = _create_parser(options_class)
    runner = _parse_known(parser, arguments)[0].runner
    if not runner:
        return arguments
    short = runner.lower().removesuffix("runner") + "runner"
    if name := _CLASS_OF_RUNNER.get(short):
        runner = name
        arguments = [*arguments, f"--runner={name}"]
    _check_runner(runner, beam.runners.runner.create_runner)
    return arguments


def _check_runner(runner: str, create: Callable[[str], object]) -> None:
    """Raises a ValueError if there is no such runner."""
    try:
        create(runner)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"--runner={runner} cannot be imported: {error}. Install what it "
            f"needs; for Beam with Dask: {install_command('apache_beam')}"
        ) from error
    except ValueError as error:
        # Beam lists the runners that it knows by a short name.
        raise ValueError(f"{error} DaskRunner is valid here too") from error


def _describe_unknown(
    arguments: Sequence[str], names_of_flags: Iterable[str]
) -> str:
    """Returns an error message about the first of some unknown flags.

    Args:
        arguments: the unknown flags, and their values.
        names_of_flags: the flags of Beam and of the script, with their dashes.
    """
    names = [name for name in arguments if name.startswith("-")]
    if not names:
        return (
            "every argument must be a flag, --name=value. Received: "
            f"{list(arguments)}"
        )
    name = f"--{names[0].lstrip('-').partition('=')[0]}"
    # Names with a few wrong letters. A lower cutoff suggests other flags.
    similar = difflib.get_close_matches(
        name, sorted(names_of_flags), n=1, cutoff=0.75
    )
    hint = f"; perhaps {similar[0]}" if similar else ""
    return (
        f"unknown flag {name}{hint}: neither this script nor Beam with this "
        "--runner knows it. An option that only a service knows is written "
        "--beam_option=NAME=VALUE"
    )


def _create_parser(
    options_class: type["PipelineOptions"],
) -> argparse.ArgumentParser:
    """Returns a parser of all flags of Beam that exist now."""
    parsers: list[argparse.ArgumentParser] = []
    options_class([]).get_all_options(add_extra_args_fn=parsers.append)
    (parser,) = parsers
    # Raise errors, instead of printing 100 lines and ending the process.
    parser.exit_on_error = False
    return parser


def _parse_known(
    parser: argparse.ArgumentParser, arguments: Sequence[str]
) -> tuple[argparse.Namespace, list[str]]:
    try:
        return parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        name = error.argument_name
        raise ValueError(f"{name}: {error.message} (a flag of Beam)") from error
    except TypeError as error:
        # A JSON value is no object.
        raise ValueError(
            f"{' '.join(arguments)}: a flag of Beam has a wrong value: {error}"
        ) from error
