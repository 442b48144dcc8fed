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
from data import report
from data.classification.decoding import to_probabilities
from data.io import feature_specs, records, text_files
from data.ner import reading, scoring, sentence_windows
from modeling import kinds
from training import task
from training.fine_tuning_config import DataFileConfig
from training.resolve import read_preset, resolve


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(DataFileConfig, reading.NerOptions):
    """Flags of the script, and the flags common to all fine-tuning scripts."""

    legal_tags: bool = flags.decoding(
        True,
        "Choose the most probable legal sequence of tags. For example, I-PER "
        "after O is illegal. False chooses the most probable tag of each word.",
    )
    head = kinds.TOKEN_CLASSIFIER


class NerTask(task.Task):
    """Tags the words that name persons, places or organizations in a text."""

    metrics = ("f1", "precision", "recall", "accuracy")
    options: Config
    labels: list[str]

    def __init__(self, options: Config) -> None:
        super().__init__(options)
        # {split: its windows} of the splits "eval" and "predict", to decode the
        # predictions.
        self.features: dict[str, list[sentence_windows.NerFeatures]] = {}
        source = options.data_file or options.data_dir
        self.processor = processor = reading.NerProcessor(source, options)
        self.labels = processor.get_labels()
        self.settings = {"labels": self.labels}
        self.export_settings = {"legal_tags": options.legal_tags}
        if not options.document_context:
            self.options = processor.suit_flags(
                options, self.tokenizer, self.longest
            )
        # Read all sets now, because their errors need not wait for TensorFlow.
        reads = options.do_train, options.evaluates, options.do_predict
        for name, is_read in zip(text_files.SETS.values(), reads, strict=True):
            if is_read:
                processor.look_at(name)
        self.loss = self.eval_loss = modeling.TokenLoss()

    def read_examples(self, split: str) -> Sequence[Any] | None:
        """Returns the sentences of a split, which were read before."""
        name = text_files.SETS[split]
        return self.processor.read_set(self.options.data_dir, name)

    def encode(self, split: str, examples: Sequence[Any]) -> Iterator[bytes]:
        """Yields the windows of a split's sentences as TFRecords."""
        if split != "train":
            self.features[split] = []
        for feature in sentence_windows.create_features(
            examples,
            self.labels,
            self.options.max_seq_length,
            self.tokenizer,
            self.options.document_context,
        ):
            if split != "train":
                self.features[split].append(feature)
            names = ("label_ids", "label_weights")
            labels = {name: getattr(feature, name) for name in names}
            yield records.encode_inputs(feature, labels)

    def feature_spec(self, split: str) -> dict[str, Any]:
        """Returns {name: Feature} of the records, the same for all splits."""
        return feature_specs.ner_features(self.options.max_seq_length)

    def create_model(
        self, config: "modeling.BertConfig", **options: Any
    ) -> "modeling.BertTokenClassifier":
        """Creates a BertTokenClassifier with one output for each tag."""
        return modeling.BertTokenClassifier(config, len(self.labels), **options)

    def evaluate(self, split: str, batches: task.Batches) -> dict[str, float]:
        """Computes the scores of CoNLL-2003's script conlleval."""
        tags, _ = self._tag(split, batches)
        right = [example.labels for example in self.examples[split]]
        return scoring.score_entities(right, tags)

    def write_report(
        self, split: str, batches: task.Batches, output_dir: str
    ) -> None:
        """Writes the predictions of the dev set, and report.html."""
        examples, found = self.examples[split], self._tag(split, batches)
        path = os.path.join(output_dir, "dev_predictions.jsonl")
        sentence_windows.write_predictions(path, examples, *found, "predicted_")
        if self.options.report:
            path = os.path.join(output_dir, "report.html")
            right = [example.labels for example in examples]
            scores = scoring.score_entities(right, found[0])
            data = self.options.data_file or self.options.data_dir
            heading = report.create_heading("NER", data, scores)
            report.write_entities(path, heading, examples, found[0])

    def write_predictions(
        self, split: str, batches: task.Batches, output_dir: str
    ) -> dict[str, float]:
        """Writes the predicted tags, and scores them if true tags are known."""
        examples, found = self.examples[split], self._tag(split, batches)
        path = os.path.join(output_dir, "predictions.jsonl")
        sentence_windows.write_predictions(path, examples, *found)
        path = os.path.join(output_dir, "test_predictions.txt")
        sentence_windows.write_columns(path, examples, found[0])
        right = [example.labels for example in examples]
        if all(label == "O" for labels in right for label in labels):
            return {}
        return scoring.score_entities(right, found[0])

    def _tag(
        self, split: str, batches: task.Batches
    ) -> tuple[list[list[str]], list[np.ndarray]]:
        # Returns the tags of the words of each sentence, and the probabilities
        # of these tags.
        every = (logits.astype(np.float32) for _, logits in batches)
        rows = (to_probabilities(x, "classification") for x in every)
        return sentence_windows.choose_tags(
            self.examples[split],
            self.features[split],
            itertools.chain.from_iterable(rows),
            self.labels,
            self.options.legal_tags,
        )


def main(flags: Config) -> None:
    """Trains, evaluates, predicts and exports, as the flags request."""
    preset = read_preset(flags)
    task = NerTask(resolve(flags, preset))
    # Import TensorFlow late, so that --help, wrong flags and wrong files show
    # quickly.
    from training import fine_tuning

    fine_tuning.run(task, task.options, preset)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
