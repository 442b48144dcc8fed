"""Trains vectors of texts: --task_name=embedding of run_classifier.py."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import modeling
import serving
from data.classification import decoding, features, metrics, pairs
from data.io import feature_specs
from data.text import tokenization
from training import task


class EmbeddingTask(task.Task):
    """Brings the vectors of close texts together, those of others apart.

    The loss is the squared error of the cosine where the train set has scores;
    else each text has to find its partner among those of the batch.
    """

    options: Any
    decoder = decoding.LabelDecoder("regression", None)

    def prepare(self, config: Any, saved_labels: Sequence[str] | None) -> None:
        """Reads the sets, whose scores tell the loss and the metric."""
        options = self.options
        self.tokenizer = tokenization.load_tokenizer(options, config.vocab_size)
        self.processor = pairs.PairProcessor(options.data_dir, options)
        wanted = {"train": options.do_train, "eval": options.evaluates}
        self._read = {
            split: self.processor.read_split(options.data_dir, split)
            for split in wanted
            if wanted[split]
        }
        has = {k: each[0].label is not None for k, each in self._read.items()}
        # Without training, the loss is only reported.
        has_scores = has.get("train", has.get("eval", True))
        self.loss = modeling.CosineLoss()
        if not has_scores:
            self.loss = modeling.ContrastiveLoss(
                options.contrastive_temperature
            )
        self.has_eval_loss = has.get("eval") in (None, has_scores)
        self._has_scores = has
        self.metrics = ["recall_1"]
        if has.get("eval", True):
            self.metrics = ["spearman", "pearson"]
        self.settings = {"task_name": options.task_name}

    def read_examples(self, split: str) -> Sequence[Any]:
        """See Task."""
        if split in self._read:
            return self._read.pop(split)
        return self.processor.read_split(self.options.data_dir, split)

    def encode(self, split: str, examples: Sequence[Any]) -> Iterator[bytes]:
        """See Task."""
        length = self.options.max_seq_length
        encoded = pairs.create_pair_features(examples, length, self.tokenizer)
        encoded = features.count_cut(encoded, length)
        return map(features.encode_classification_features, encoded)

    def feature_spec(self, split: str) -> dict[str, Any]:
        """See Task."""
        return feature_specs.pair_features(
            self.options.max_seq_length, self._has_scores.get(split, False)
        )

    def create_model(self, config: Any, **options: Any) -> Any:
        """See Task."""
        return modeling.BertEmbedder(config, **options)

    def combine(self, outputs: Sequence[Any]) -> Any:
        """Returns the mean of vectors, of length 1 again."""
        total = np.sum(outputs, axis=0)
        return total / np.linalg.norm(total, axis=-1, keepdims=True)

    def evaluate(self, split: str, batches: task.Batches) -> dict[str, float]:
        """Returns how the cosines correlate with the scores, or the recall."""
        if not self._has_scores[split]:
            every = np.concatenate([vectors for _, vectors in batches])
            return {"recall_1": pairs.recall_1(every)}
        labels, vectors = metrics.concatenate(batches)
        cosines = _cosines(vectors)
        self.samples = [
            decoding.describe_example(example, True) | {"label": float(cosine)}
            for example, cosine in zip(
                self.examples[split], cosines, strict=True
            )
        ]
        return metrics.compute_metrics(self.metrics, labels, cosines)

    def write_predictions(
        self, split: str, batches: task.Batches, output_dir: str
    ) -> dict[str, float]:
        """Writes each pair's cosine; scores them where the scores are known."""
        examples = self.examples[split]
        cosines = (
            (inputs, _cosines(vectors)[:, None]) for inputs, vectors in batches
        )
        entries = (decoding.describe_example(each, True) for each in examples)
        found = decoding.write_predictions(
            output_dir, entries, cosines, self.decoder
        )
        right = [example.label for example in examples]
        return metrics.score_known(
            ["spearman", "pearson"], right, found, self.decoder.label_ids
        )

    def export(self, export_dir: str, model: Any) -> None:
        """Writes the encoder, whose `embed` has the vector."""
        options = self.options
        serving.export_encoder(
            export_dir,
            model.bert,
            serving.ServingOptions(
                self.tokenizer,
                options.max_seq_length,
                options.predict_batch_size,
                options,
            ),
        )


def _cosines(vectors: np.ndarray) -> np.ndarray:
    """Returns float32 [B] of the vectors of pairs, [B, 2, W]."""
    return np.sum(vectors[:, 0] * vectors[:, 1], axis=-1)
