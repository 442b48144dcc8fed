"""Fine-tunes BERT to tag named entities (CoNLL-2003), and predicts tags.

    python run_ner.py --data_file=FILE --init_checkpoint=MODEL --output_dir=DIR

A line of the file is a word and its tag, or in JSON, a text with its entities.
Training resumes from the newest checkpoint in --output_dir.
"""

import dataclasses
import functools
import itertools
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import modeling
from command_line import cli, flags
from command_line.flags import group
from data import report
from data.classification.decoding import to_probabilities
from data.io import feature_specs, records
from data.ner import reading, scoring, sentence_windows
from data.ner.options import NerOptions
from data.ner.sentence_windows import NerExample, NerFeatures
from modeling import kinds
from training import task
from training.fine_tuning_config import DataFileConfig
from training.start import Start, read_start, suit
from training.trained_rows import with_table_split


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(DataFileConfig):
    """Flags of the script, and the flags common to all fine-tuning scripts."""

    ner: NerOptions = group(NerOptions)
    legal_tags: bool = flags.decoding(
        True,
        "Choose the most probable legal sequence of tags. For example, I-PER "
        "after O is illegal. False chooses the most probable tag of each word.",
    )
    head = kinds.TOKEN_CLASSIFIER


_Split = task.Split[NerExample, NerFeatures]


class NerTask(task.Task[NerExample, NerFeatures]):
    """Tags the words that name persons, places or organizations in a text.

    Args:
        start: what the command starts from.
        reader: reads the tags and the sentences.
    """

    metrics = ("f1", "precision", "recall", "accuracy")
    config: Config

    def __init__(
        self, start: Start[Config], reader: reading.NerProcessor
    ) -> None:
        super().__init__(start)
        self.reader = reader
        self.tags = reader.labels()
        self.labels = self.tags
        self.settings = {"labels": self.tags}
        self.export_settings = {"legal_tags": self.config.legal_tags}
        self.max_seq_length = self.config.fine_tuning.max_seq_length
        self.loss = modeling.TokenLoss()
        self.eval_loss = self.loss

    def read_examples(self, split: str) -> Sequence[NerExample] | None:
        """Returns the sentences of a split."""
        return self.reader.take(split)

    def encode(
        self, split: str, examples: Sequence[NerExample]
    ) -> Iterator[tuple[bytes, NerFeatures]]:
        """Yields the windows of a split's sentences, as TFRecords too."""
        for window in sentence_windows.create_features(
            examples,
            self.tags,
            self.max_seq_length,
            self.tokenizer,
            self.config.ner.document_context,
        ):
            labels: dict[str, records.Values] = {
                "label_ids": window.label_ids,
                "label_weights": window.label_weights,
            }
            yield records.encode_inputs(window, labels), window

    def feature_spec(self, split: str) -> feature_specs.Spec:
        """Returns {name: Feature} of the records, the same for all splits."""
        return feature_specs.ner_features(self.max_seq_length)

    def create_model(
        self, config: "modeling.BertConfig", **options: Any
    ) -> "modeling.BertTokenClassifier":
        """Creates a BertTokenClassifier with one output for each tag."""
        return modeling.BertTokenClassifier(config, len(self.tags), **options)

    def evaluate(
        self, split: _Split, batches: task.Batches
    ) -> dict[str, float]:
        """Computes the scores of CoNLL-2003's script conlleval."""
        tags, _ = self._tag(split, batches)
        right = [example.labels for example in split.examples]
        return scoring.score_entities(right, tags)

    def write_report(
        self, split: _Split, batches: task.Batches, output_dir: str
    ) -> None:
        """Writes the predictions of the dev set, and report.html."""
        tags, probabilities = self._tag(split, batches)
        sentence_windows.write_predictions(
            os.path.join(output_dir, "dev_predictions.jsonl"),
            split.examples,
            tags,
            probabilities,
            prefix="predicted_",
        )
        if not self.config.report:
            return
        right = [example.labels for example in split.examples]
        scores = scoring.score_entities(right, tags)
        data = self.config.data.data_file or self.config.fine_tuning.data_dir
        report.write_entities(
            os.path.join(output_dir, "report.html"),
            report.create_heading("NER", data, scores),
            split.examples,
            tags,
        )

    def write_predictions(
        self, split: _Split, batches: task.Batches, output_dir: str
    ) -> dict[str, float]:
        """Writes the predicted tags, and scores them if true tags are known."""
        tags, probabilities = self._tag(split, batches)
        path = os.path.join(output_dir, "predictions.jsonl")
        sentence_windows.write_predictions(
            path, split.examples, tags, probabilities
        )
        path = os.path.join(output_dir, "test_predictions.txt")
        sentence_windows.write_columns(path, split.examples, tags)
        right = [example.labels for example in split.examples]
        if all(label == "O" for labels in right for label in labels):
            return {}
        return scoring.score_entities(right, tags)

    def _tag(
        self, split: _Split, batches: task.Batches
    ) -> tuple[list[list[str]], list[np.ndarray]]:
        # Returns the tags of the words of each sentence, and the probabilities
        # of these tags.
        every = (logits.astype(np.float32) for _, logits in batches)
        rows = (to_probabilities(x, "classification") for x in every)
        return sentence_windows.choose_tags(
            split.examples,
            split.origins,
            itertools.chain.from_iterable(rows),
            self.tags,
            self.config.legal_tags,
        )


def create_reader(config: Config) -> reading.NerProcessor:
    """Creates the reader, which reads all sets that the command needs.

    Their errors then show before TensorFlow is imported.

    Raises:
        ValueError: a file is malformed.
        OSError: a file cannot be read.
    """
    reader = reading.NerProcessor(
        config.fine_tuning.data_dir, config.data, config.ner
    )
    reader.labels()
    for split in config.purposes:
        reader.read(split)
    return reader


def main(parsed: flags.Parsed[Config]) -> None:
    """Trains, evaluates, predicts and exports, as the flags request."""
    start = read_start(parsed)
    reader = create_reader(start.config)
    start = with_table_split(start, reader)
    if not start.config.ner.document_context:
        start = suit(start, reader, parsed.given)
    # Import TensorFlow late, so that --help, wrong flags and wrong files show
    # quickly.
    from training import fine_tuning

    fine_tuning.run(NerTask(start, reader), start)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
