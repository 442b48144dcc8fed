"""Runs the tasks of create_pretraining_data.py with Apache Beam.

Beam's workers read and write the same paths as the script that starts the
pipeline, so a runner on many machines needs a file system that all of them
mount.
"""

from collections.abc import Callable, Generator, Sequence

from files import requirements


class BeamExecutor:
    """Runs tasks in Beam pipelines.

    Args:
        arguments: list of str, Beam's own flags, such as
            `--runner=FlinkRunner`.

    Raises:
        ValueError: Apache Beam is not installed, or does not know a flag.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        try:
            import apache_beam
            from apache_beam.options import pipeline_options
        except ImportError as error:
            raise ValueError(
                "--pipeline=beam needs Apache Beam: "
                f"{requirements.install('requirements/beam.txt')}"
            ) from error
        self._beam = apache_beam
        self._options = pipeline_options.PipelineOptions(arguments)
        known = self._options.get_all_options(drop_default=True)
        unknown = [
            argument
            for argument in arguments
            if argument.lstrip("-").split("=")[0] not in known
        ]
        if unknown:
            raise ValueError(
                f"unknown arguments {unknown}. Use flags of this script or of "
                "Apache Beam"
            )

    def run(
        self, function: Callable, tasks: Sequence[tuple[str, tuple]]
    ) -> Generator[None]:
        """Calls a function for each task, in one Beam pipeline.

        `tasks` is a list of pairs: a name, which is ignored, and the arguments
        for the function. The function must be picklable. Its results are
        dropped: when all tasks are done, the generator yields None for each.

        Raises:
            OSError: the pipeline failed.
        """
        if not tasks:
            return
        beam = self._beam
        try:
            with beam.Pipeline(options=self._options) as pipeline:
                _ = (
                    pipeline
                    | beam.Create([arguments for _, arguments in tasks])
                    # Distribute the tasks. Otherwise one worker of Beam might
                    # run all of them.
                    | beam.Reshuffle()
                    | beam.MapTuple(function)
                )
        except Exception as error:
            raise OSError(
                f"the Beam pipeline failed: {str(error).splitlines()[-1]}"
            ) from error
        yield from [None] * len(tasks)
