"""What a classifier's outputs say of examples, and files of it.

B = batch, L = labels.
"""

import json

import numpy as np
from scipy import special

from data import files


class LabelDecoder:
    """Reads the labels out of a classifier's outputs.

    Args:
        output_mode: "classification", one label each; "multilabel", any
            number of them; or "regression", a number.
        label_list: list of str; None in regression.
    """

    def __init__(self, output_mode, label_list):
        self.output_mode = output_mode
        self.label_list = label_list

    @property
    def num_outputs(self):
        """L, and 1 in regression."""
        return len(self.label_list) if self.label_list else 1

    def predictions(self, outputs):
        """Returns what is predicted, in the form of a record's `label_ids`.

        Args:
            outputs: logits, float [B, L]; in regression values, [B, 1].

        Returns:
            int [B], in multi-label classification [B, L] of 0 and 1, in
            regression float [B].
        """
        if self.output_mode == "regression":
            return outputs[:, 0]
        if self.output_mode == "multilabel":
            return (outputs > 0).astype(np.int64)
        return np.argmax(outputs, axis=-1)

    def probabilities(self, outputs):
        """Returns float32 [B, L], in regression the values, [B, 1]."""
        outputs = outputs.astype(np.float32)
        if self.output_mode == "regression":
            return outputs
        if self.output_mode == "multilabel":
            return special.expit(outputs)
        return special.softmax(outputs, axis=-1)

    def labels(self, outputs):
        """Returns each example's label: str, list of str or float."""
        predictions = self.predictions(outputs)
        if self.output_mode == "regression":
            return predictions.tolist()
        if self.output_mode == "multilabel":
            return [
                [self.label_list[index] for index in np.flatnonzero(row)]
                for row in predictions
            ]
        return [self.label_list[index] for index in predictions]


def write_predictions(table_file, json_file, guids, batches, decoder):
    """Writes predictions as a table and as JSON lines.

    The table is the original's test_results.tsv, a line an example, a column
    a label; the JSON objects have guid, label and, but in regression, the
    probabilities by label.

    Args:
        table_file: the table.
        json_file: the JSON lines.
        guids: iterable of str, the examples' names.
        batches: iterable of a model's outputs, float [B, L].
        decoder: LabelDecoder.

    Returns:
        the labels of all examples, see `LabelDecoder.labels`.

    Raises:
        OSError: a file cannot be written.
    """
    guids, labels = iter(guids), []
    with (
        files.atomic_open(table_file) as table,
        files.atomic_open(json_file) as lines,
    ):
        for outputs in batches:
            rows = decoder.probabilities(outputs)
            for row, label in zip(rows, decoder.labels(outputs), strict=True):
                labels.append(label)
                cells = "\t".join(str(value) for value in row)
                table.write(f"{cells}\n".encode())
                entry = {"guid": next(guids), "label": label}
                if decoder.label_list:
                    entry["probabilities"] = dict(
                        zip(decoder.label_list, row.tolist(), strict=True)
                    )
                line = json.dumps(entry, ensure_ascii=False)
                lines.write(f"{line}\n".encode())
    return labels
