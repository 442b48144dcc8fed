"""Supports SavedModels that earlier versions of this project exported.

They contain no model.json. The task, the casing and the maximum length can be
inferred from the signatures in the graph. The options that cut a passage into
windows cannot be inferred. So the graph's own signature `answer_n_best` answers
questions, and not the Python code in serving/tasks/answer.py.
"""

from pathlib import Path
from typing import Any

from data.text.tokenization import load_vocab
from modeling.checkpoints.labels import load_labels
from serving.tasks.answer import OUTPUTS, Answer
from serving.tasks.base import (
    DEFAULTS,
    Reply,
    Request,
    Row,
    TaskOptions,
    TextTask,
)

# {signature: class of the models whose exports contain this signature}.
_CLASSES = {
    "fill_mask": "BertPretrainer",
    "classify": "BertClassifier",
    "answer": "BertSpanLabeler",
    "tag": "BertTokenClassifier",
    "embed": "BertModel",
}


def find_settings(engine: Any, folder: Path) -> dict[str, Any]:
    """Returns the settings that model.json would contain under `task`.

    Also returns `do_lower_case`: whether the graph lower-cases text. To find
    out, the function tokenizes an upper-case word whose lower-case form is in
    the vocabulary. If there is no such word, the setting is None.

    Args:
        engine: engine that runs the SavedModel.
        folder: folder of the export's other files, such as the labels.

    Returns:
        the settings, {} if the export accepts no text.
    """
    names = [c for name, c in _CLASSES.items() if name in engine.signatures]
    if not names or "tokenize" not in engine.signatures:
        return {}
    settings: dict[str, Any] = {"name": names[0], "labels": load_labels(folder)}
    if names[0] == "BertClassifier":
        outputs = engine.signatures["classify"].structured_outputs
        settings["output_mode"] = (
            "regression"
            if "values" in outputs
            else "multilabel"
            if len(outputs["label"].shape) > 1
            else "classification"
        )
    words = (t for t in load_vocab(folder / "vocab.txt") if t.isascii())
    word = next((t for t in words if t.isalpha() and t.islower()), "")
    texts = ["a " * (1 << 14), word.upper()]
    inputs = {"text_a": texts, "text_b": ["", ""]}
    outputs = engine.run_signature("tokenize", inputs)
    tokens = outputs["tokens"][1][1 : outputs["lengths"][1] - 1].tolist()
    settings["do_lower_case"] = tokens == [word.encode()] if word else None
    return settings | {"max_seq_length": int(outputs["lengths"][0])}


class FormerAnswer(Answer):
    """Finds the answer to a question with the signature `answer_n_best`."""

    def __init__(self, model: Any, options: TaskOptions = DEFAULTS) -> None:
        TextTask.__init__(self, model, options)

    def encode(self, request: Request) -> Row:
        """Runs the graph. Returns a Row whose `state` contains the outputs."""
        inputs = {name: [request[name]] for name in self.fields}
        outputs = self.model.engine.run_signature("answer_n_best", inputs)
        state = {name: value[0] for name, value in outputs.items()}
        return Row(request, [], [], state=state)

    def _decode(self, row: Row) -> tuple[Reply, float, list[Reply]]:
        found, context = row.state, row.request["context"].encode()

        def describe(text: bytes, prob: float, *in_bytes: int) -> Reply:
            # A position of -1 means "no answer".
            places = [
                len(context[:byte].decode("utf-8", "ignore"))
                if byte >= 0
                else -1
                for byte in in_bytes
            ]
            return {
                "answer": text.decode(),
                "probability": prob,
                **dict(zip(("start", "end"), places, strict=True)),
                "start_byte": int(in_bytes[0]),
                "end_byte": int(in_bytes[1]),
            }

        count = min(int(found["num_answers"]), self.options.n_best)
        columns = (found[plural][:count] for _, plural, _ in OUTPUTS)
        n_best = [describe(*one) for one in zip(*columns, strict=True)]
        reply = describe(*(found[name] for name, _, _ in OUTPUTS))
        return reply, found["null_odds"], n_best
