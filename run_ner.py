r"""Fine-tunes BERT to tag named entities (CoNLL-2003), and predicts tags.

    python run_ner.py --data_dir=conll2003 --init_checkpoint=MODEL \
        --output_dir=output/ner --do_train --do_eval

Training resumes from the newest checkpoint in --output_dir.
"""

import dataclasses
import functools
import os
from collections.abc import Iterator, Sequence
from typing import Any

import modeling
import serving
from data import report
from data.io import feature_specs, text_files
from data.ner import legal_tags, reading, scoring, sentence_windows
from files import flags
from training import task
from training.command_line import cli
from training.fine_tuning_config import FineTuningConfig
from training.resolve import read_preset, resolve


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(FineTuningConfig):
    """Flags of the script, and the flags common to all fine-tuning scripts."""

    labels: Sequence[str] | None = flags.head(
        None,
        "The tags in the order of the model's outputs, comma-separated. The "
        "default is the tags of the train set, O first. Without training, it "
        "is the tags that the model was trained with.",
    )
    text_column: int | None = flags.training(
        None,
        "Number of the column that contains the words. The default is 1, the "
        "first column, or 2 if the first column contains the tags.",
        at_least=1,
    )
    label_column: int | None = flags.training(
        None,
        "Number of the column that contains the tags. The first column is 1. "
        "The default is the last column.",
        at_least=1,
    )
    document_context: bool = flags.head(
        False,
        "Use whole documents as context, as in the paper, instead of single "
        "sentences.",
    )
    legal_tags: bool = flags.decoding(
        True,
        "Choose the most probable legal sequence of tags. For example, I-PER "
        "after O is illegal. False chooses the most probable tag of each word.",
    )
    report: bool = flags.neutral(
        False,
        "Write report.html about the dev set. It counts what is right "
        "and wrong, and shows the worst predictions first.",
    )

    head = "BertTokenClassifier"

    def check(self) -> None:
        """Raises a ValueError if flags contradict each other."""
        super().check()
        if self.report and not self.do_eval:
            raise ValueError("--report needs --do_eval")


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
        # Without --labels, the processor reads the tags of the train set.
        self.processor = reading.NerProcessor(
            [*options.labels] if options.labels else None,
            options.text_column,
            options.label_column,
        )
        # Read the tags before TensorFlow is imported, so that an error in the
        # files shows quickly.
        self.labels = self.processor.get_labels(options.data_dir)
        self.loss = self.eval_loss = modeling.TokenLoss()
        self.settings = {"labels": self.labels}

    def read_examples(self, split: str) -> Sequence[Any] | None:
        """Reads the sentences of a split.

        Raises a ValueError if --document_context is set, but the split does not
        mark the start of documents.
        """
        data_dir = self.options.data_dir
        examples = self.processor.read_set(data_dir, text_files.SETS[split])
        if self.options.document_context and len(examples) > 1:
            if not any(example.document for example in examples):
                raise ValueError(
                    f"--document_context: the {split} set in {data_dir} has no "
                    "line -DOCSTART-, so all sentences would be one document; "
                    "add these lines, or remove the flag"
                )
        return examples

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
            yield sentence_windows.encode_ner_features(feature)

    def feature_spec(self, split: str) -> dict[str, Any]:
        """Returns {name: Feature} of the records, the same for all splits."""
        return feature_specs.ner_features(self.options.max_seq_length)

    def create_model(self, config: Any, **options: Any) -> Any:
        """Creates a BertTokenClassifier with one output for each tag."""
        return modeling.BertTokenClassifier(config, len(self.labels), **options)

    def evaluate(self, split: str, batches: task.Batches) -> dict[str, float]:
        """Computes the scores of CoNLL-2003's script conlleval."""
        examples, tags = self.examples[split], self._tag(split, batches)
        right = [example.labels for example in examples]
        return scoring.score_entities(right, tags)

    def write_report(
        self, split: str, batches: task.Batches, output_dir: str
    ) -> None:
        """Writes report.html about the dev set if --report is set."""
        if self.options.report:
            path = os.path.join(output_dir, "report.html")
            examples, tags = self.examples[split], self._tag(split, batches)
            right = [example.labels for example in examples]
            f1 = scoring.score_entities(right, tags)["f1"]
            title = report.create_title("NER", self.options.data_dir, "f1", f1)
            report.write_entities(path, title, examples, tags)

    def write_predictions(
        self, split: str, batches: task.Batches, output_dir: str
    ) -> dict[str, float]:
        """Writes the predicted tags, and scores them if true tags are known."""
        examples, tags = self.examples[split], self._tag(split, batches)
        sentence_windows.write_predictions(output_dir, examples, tags)
        right = [example.labels for example in examples]
        if all(label == "O" for labels in right for label in labels):
            return {}
        return scoring.score_entities(right, tags)

    def _tag(self, split: str, batches: task.Batches) -> list[list[str]]:
        found = sentence_windows.select_words(
            self.examples[split],
            self.features[split],
            (row for _, logits in batches for row in logits),
            len(self.labels),
        )
        labels, only_legal = self.labels, self.options.legal_tags
        return [
            [labels[i] for i in legal_tags.decode(rows, labels, only_legal)]
            for rows in found
        ]

    def export(self, export_dir: str, model: Any) -> None:
        """Writes the model in the formats of --export_format."""
        serving.export_token_classifier(
            export_dir,
            model,
            self.labels,
            serving.ExportOptions.of(self),
            self.options.legal_tags,
        )


def main(flags: Config) -> None:
    """Trains, evaluates, predicts and exports, as the flags request."""
    preset = read_preset(flags)
    config = resolve(flags, preset)
    task = NerTask(config)
    # Import TensorFlow late, so that --help, wrong flags and wrong files show
    # quickly.
    from training import fine_tuning

    fine_tuning.run(task, config, preset, serving.export_task)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
