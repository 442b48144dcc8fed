r"""Fine-tunes BERT to classify texts or pairs of texts, and predicts labels.

    python run_classifier.py --data_file=TABLE --init_checkpoint=MODEL \
        --output_dir=DIR

The table is CSV, TSV, JSON lines or Parquet. The other tasks are GLUE and XNLI
(--task_name=mrpc --data_dir=glue/MRPC --do_train --do_eval). Training resumes
from the newest checkpoint in --output_dir.
"""

from command_line import cli
from options.parsed_command import ParsedCommand
from training.config.classifier_config import ClassifierConfig
from training.preparation.data_file_decisions import decide_by_rows
from training.preparation.starting_point_loading import load_starting_point
from training.tasks.classifier_setup import (
    decide_columns,
    load_task,
    open_data_file,
    open_processor,
)


def main(parsed: ParsedCommand[ClassifierConfig]) -> None:
    """Trains, evaluates, predicts and exports, as the flags request.

    The header of --data_file, the folder of the weights and the rows decide the
    flags that the user did not set, in this order.
    """
    with open_data_file(parsed.config) as table:
        starting_point = load_starting_point(decide_columns(parsed, table))
        processor = open_processor(starting_point, table)
        starting_point = decide_by_rows(starting_point, processor.sets)
        classifier_task = load_task(starting_point, processor)
        # Import TensorFlow late, so that --help, wrong flags and wrong tables
        # show quickly.
        from training.fine_tuning.flow import fine_tune

        fine_tune(classifier_task)


command = cli.Command(main, ClassifierConfig)

if __name__ == "__main__":
    command()
