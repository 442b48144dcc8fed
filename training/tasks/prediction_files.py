"""Writes the predictions of a run of run_classifier.py."""

import os
from collections.abc import Sequence

from data.arrays import FloatArray
from data.classification import prediction_files
from data.classification.classification_examples import (
    InputExample,
    Label,
)
from data.classification.label_codec import LabelCodec
from data.outputs import output_writer
from data.outputs.output_rows import OutputRow
from data.sets.set_names import suffix_of
from training import task


def write_table_rows(
    path: str,
    examples: Sequence[InputExample],
    outputs: FloatArray,
    codec: LabelCodec,
) -> None:
    """Writes the rows of a user's table, and the answers beside them.

    Writes nothing for examples that are no rows of a table.

    Args:
        path: path of the CSV file.
        examples: N examples, at least one.
        outputs: the model's outputs for them, float [N, ...].
        codec: converts the outputs to answers.

    Raises:
        OSError: the file cannot be written.
    """
    if examples[0].row is not None:
        rows = [
            OutputRow(cells)
            for cells in prediction_files.create_prediction_rows(
                examples, outputs, codec
            )
        ]
        output_writer.write_output(path, "csv", [rows])


def write_test_predictions(
    encoded_set: task.EncodedSet[InputExample, task.OriginT],
    outputs: FloatArray,
    codec: LabelCodec,
    output_dir: str,
) -> Sequence[Label]:
    """Writes the predictions of a test set. Returns the predicted labels.

    Args:
        encoded_set: the test set, of N examples.
        outputs: the model's outputs for them, float [N, ...].
        codec: converts the outputs to answers.
        output_dir: folder for predictions.csv, if the examples are rows of a
            table, and for the files of `write_labels`.

    Raises:
        OSError: a file cannot be written.
        ValueError: an output is not finite.
    """
    path = os.path.join(output_dir, "predictions.csv")
    write_table_rows(path, encoded_set.examples, outputs, codec)
    return prediction_files.write_labels(
        output_dir,
        prediction_files.create_example_entries(encoded_set.examples),
        outputs,
        codec,
        suffix_of(encoded_set.name),
    )
