"""The command of a fine-tuning script: reads its flags and runs its task.

command_line/cli.py is what the commands of all scripts have in common.
"""

from collections.abc import Callable, Sequence

from training.command_line import cli, flags
from training.options import FineTuningOptions
from training.tasks.task import Task

REQUIRED = ("bert_config_file", "vocab_file", "output_dir")


def run_task(
    create_task: Callable[[FineTuningOptions], Task],
    define_flags: Callable[[], None],
    required: Sequence[str] = ("data_dir",),
) -> None:
    """Trains, evaluates, predicts and exports a task as the flags say.

    Args:
        create_task: makes the task from the options that all tasks share.
        define_flags: defines the script's flags.
        required: names of required flags, besides those of the model and the
            output.
    """

    def main(_: Sequence[str]) -> None:
        # It loads TensorFlow, which --help and wrong flags do not wait for.
        from training.steps import distribution
        from training.tasks import fine_tuning

        options = flags.read(FineTuningOptions)
        distribution.pack_weights(options)
        fine_tuning.run(create_task(options), options)

    cli.run(main, define_flags, [*required, *REQUIRED])
