"""A user's own classification task: CSV, TSV or JSON lines, by column names."""

import os

from absl import logging

from data.examples import (
    DataProcessor,
    InputExample,
    check_number_of_examples,
    regression_label,
)
from data.tables import read_table

_EXTENSIONS = (".csv", ".tsv", ".jsonl")


class TableProcessor(DataProcessor):
    """Reads `train`, `dev` and `test` files with any of the extensions.

    A table's first line names its columns. If the columns are given by
    number, from 1, the table has no such line.

    Args:
        data_dir: folder of the files, where the labels are looked up.
        text_column: str, the text's column.
        label_column: str, the label's column; the test set need not have it.
        text_b_column: str, the second text's column; None for single texts.
        labels: list of str; None for those of the train set, sorted.
        output_mode: "classification"; "multilabel", any number of labels
            each; or "regression", a number.
        label_separator: str, parts the labels of a multi-label cell. JSON
            lines may have a list instead.
        quoting: whether `"` quotes cells of CSV and TSV, as spreadsheets
            write them; otherwise it is a character as any other.

    Raises:
        ValueError: there is no such output mode.
    """

    def __init__(
        self,
        data_dir,
        text_column="text",
        label_column="label",
        text_b_column=None,
        labels=None,
        output_mode="classification",
        label_separator=",",
        quoting=True,
    ):
        metrics = {
            "classification": ("accuracy", "f1_macro"),
            "multilabel": ("accuracy", "f1_micro", "f1_macro"),
            "regression": ("pearson", "spearman"),
        }
        if output_mode not in metrics:
            raise ValueError(
                f"output_mode must be one of {', '.join(metrics)}. Received: "
                f"{output_mode!r}"
            )
        self.output_mode = output_mode
        self.metrics = metrics[output_mode]
        self._data_dir = data_dir
        self._text_columns = [text_column, *filter(None, [text_b_column])]
        self._label_column = label_column
        self._labels = labels
        self._label_separator = label_separator
        self._quoting = quoting

    def get_labels(self):
        """Returns the list of labels; None in regression.

        Raises:
            OSError: they are to be found in a train set that is not there.
            ValueError: as get_train_examples.
        """
        if self.output_mode == "regression":
            return None
        if self._labels is None:
            found = set()
            for example in self._read_set(self._data_dir, "train"):
                label = example.label
                found |= {label} if isinstance(label, str) else set(label)
            self._labels = sorted(found)
            logging.info("The labels of the train set: %s", self._labels)
        return self._labels

    def get_train_examples(self, data_dir):
        """Returns the list of InputExamples to train on.

        Raises:
            OSError: the file is not there.
            ValueError: a line is not as it should be; the message names the
                file, the line and the column.
        """
        return self._read_set(data_dir, "train")

    def get_dev_examples(self, data_dir):
        """Returns the list of InputExamples to evaluate on; errors as train."""
        return self._read_set(data_dir, "dev")

    def get_test_examples(self, data_dir):
        """Returns the list of InputExamples to predict, without labels."""
        return self._read_set(data_dir, "test")

    def _read_set(self, data_dir, name):
        path = _find_file(data_dir, name)
        columns = list(self._text_columns)
        if name != "test":
            columns.append(self._label_column)
        examples = []
        for where, cells in read_table(path, columns, self._quoting):
            places = [f"{where}, column {column!r}" for column in columns]
            texts = cells[: len(self._text_columns)]
            for text, place in zip(texts, places, strict=False):
                if not isinstance(text, str):
                    raise ValueError(
                        f"{place}: the text must be a string. Received: {text}"
                    )
            if name == "test":
                label = self._test_label()
            else:
                label = self._read_label(cells[-1], places[-1], name)
            guid = f"{name}-{len(examples) + 1}"
            examples.append(InputExample(guid, *texts, label=label))
        check_number_of_examples(examples, path, name, self.output_mode)
        return examples

    def _test_label(self):
        """Returns what stands in for labels that are not known."""
        if self.output_mode == "regression":
            return 0.0
        if self.output_mode == "multilabel":
            return []
        return self.get_labels()[0]

    def _read_label(self, cell, place, set_name):
        """Returns the label that a cell holds, checked."""
        if self.output_mode == "regression":
            return regression_label(cell, place)
        if self.output_mode == "multilabel":
            if isinstance(cell, str):
                values = cell.split(self._label_separator)
                cell = [value for value in values if value.strip()]
            if not isinstance(cell, list):
                raise ValueError(
                    f"{place}: the labels must be a list or a string. "
                    f"Received: {cell!r}"
                )
            label = labels = [_label_text(value, place) for value in cell]
        else:
            label = _label_text(cell, place)
            labels = [label]
        # While the labels are being looked up there is nothing to check.
        if self._labels is None and set_name == "train":
            return label
        for each in labels:
            if each not in self.get_labels():
                raise ValueError(
                    f"{place}: unknown label {each!r}; the labels are "
                    f"{self.get_labels()}. Correct the line, or add the label "
                    "to those given or to the train set"
                )
        return label


def _find_file(data_dir, name):
    """Returns the one file of a set."""
    paths = [
        os.path.join(data_dir, name + extension) for extension in _EXTENSIONS
    ]
    found = [path for path in paths if os.path.isfile(path)]
    if not found:
        raise FileNotFoundError(
            f"there is no {name} set in {data_dir}: it must be named "
            f"{' or '.join(name + extension for extension in _EXTENSIONS)}"
        )
    if len(found) > 1:
        raise ValueError(
            f"there must be one {name} set, not {' and '.join(found)}"
        )
    return found[0]


def _label_text(value, place):
    """Returns a label as text; JSON may have it as a number or a boolean."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) or (isinstance(value, str) and value.strip()):
        return str(value).strip()
    raise ValueError(
        f"{place}: a label must be a string, not empty, or an integer. "
        f"Received: {value!r}"
    )
