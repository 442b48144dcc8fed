"""How likely a masked language model finds a sentence."""

from typing import Any

import numpy as np

from serving.engines import Input
from serving.requests import MASK, to_number
from serving.tasks.base import Encoded, Outputs, Reply, Request, Row, TextTask
from serving.tasks.texts import to_bytes


class Score(TextTask):
    """The pseudo-log-likelihood of a text (Salazar et al. 2020).

    Each WordPiece is masked once. The score is the sum of the logarithms of the
    probabilities that the model gives the WordPieces behind the masks.
    """

    name = "score"
    fields = {"text": True}
    signatures = {"score": {"text": "text"}}
    predicts_words = True
    repeats = True

    def encode(self, request: Request) -> Encoded:
        """Returns an input for each WordPiece, with a mask in its place."""
        packed = super().encode(request)
        ((ids, length, _),) = packed.inputs
        mask = self.model.tokenizer.vocab[MASK]
        inputs = [
            Input([*ids[:place], mask, *ids[place + 1 :]], length, (place, id_))
            for place, id_ in enumerate(ids[1:-1], 1)
        ]
        return packed._replace(inputs=inputs)

    def keep(self, encoded: Input, outputs: Outputs) -> Any:
        """Returns the logarithm of the right WordPiece's probability."""
        probability = outputs["masked_lm_probabilities"][encoded.state]
        # An int8 model may round it to 0.
        return np.log(np.maximum(probability, np.finfo(np.float32).tiny))

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"score", "perplexity", "num_wordpieces"}.

        With the option `tokens` also "tokens" and their "log_probabilities".
        """
        arrays = self.read_arrays(request, row)
        answer: Reply = {
            "score": to_number(float(arrays["score"])),
            "perplexity": to_number(float(arrays["perplexity"])),
            "num_wordpieces": len(row.outputs),
        }
        if self.options.tokens:
            answer["tokens"] = row.encoded.tokens[1:-1]
            answer["log_probabilities"] = [*map(to_number, row.outputs)]
        return answer

    def read_arrays(self, request: Request, row: Row) -> Outputs:
        """See TextTask."""
        logs = np.array(row.outputs, np.float32)
        total = logs.sum(dtype=np.float64)
        return {
            "score": np.array(total, np.float32),
            "perplexity": np.exp(-total / max(len(logs), 1)).astype(np.float32),
            "tokens": to_bytes(row.encoded.tokens[1:-1]),
            "log_probabilities": logs,
            "num_wordpieces": np.array(len(logs), np.int32),
        }
