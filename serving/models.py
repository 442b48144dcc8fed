"""Exported models in Python: texts in, plain lists and dicts out.

    bert = serving.load("output/mrpc_model")
    bert.classify(["The boat left at noon."], ["At noon the boat left."])

predict.py, serve.py and its page use the same classes (tasks/).
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from absl import logging

from data.text import casing
from data.text.tokenization import FullTokenizer
from serving import engines
from serving.requests import DEFAULTS, TaskOptions, Texts, as_texts
from serving.tasks import TASKS
from serving.tasks.answer import Answer
from serving.tasks.base import Encoded, Row, TextTask
from serving.tasks.texts import Attention, Tokenize
from training import model_folder


class TextModel:
    """An exported model that takes text.

    Each method takes one text and returns one dict, or takes a list of texts
    and returns a list of dicts; all of plain Python, as predict.py writes them.
    Positions in texts count characters, except `start_byte` and `end_byte`.
    Threads may share a model. `serving.load` is another name of this class.

    Args:
        path: folder of an export, or of numbered versions of one, of which the
            newest is loaded, as by TensorFlow Serving. Only a SavedModel needs
            TensorFlow.
        allow_any_operation: also load a SavedModel that uses operations which
            exports of this project do not. They may read and write any file.
        num_threads: threads that compute, or None for one per CPU.
        engine: "litert", "onnx", "openvino" or "saved_model". None chooses by
            the files in the folder and the packages that are installed.
        segmenter: "module:function" of the --segmenter that the model was
            trained with, or None. It is imported.

    Attributes:
        engine: see engines.
        settings: of the head, the `task` of model.json; {} if the export
            takes no text.
        tokenizer: FullTokenizer of the model, if it says one.
        is_former: whether it is a SavedModel from before there was model.json.

    Raises:
        FileNotFoundError: the folder contains no export.
        OSError: the export is damaged.
        TypeError: from every method: an argument is neither a text nor a list
            of texts.
        ValueError: its runtime is not installed, or it uses an operation that
            is not allowed. From every method: the model does not support the
            task, or a text cannot be used.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        allow_any_operation: bool = False,
        num_threads: int | None = None,
        engine: str | None = None,
        segmenter: str | None = None,
    ) -> None:
        versions = find_versions(path)
        if not versions:
            raise FileNotFoundError(
                f"{os.fspath(path)} is not an exported model: it has none of "
                f"{', '.join(engines.FILES)} and no numbered version; use a "
                "folder that --export_dir wrote"
            )
        newest = max(versions)
        folder = versions[newest]
        if folder != Path(path):
            logging.info("%s: version %s is the newest", path, newest)
        self.path = os.fspath(folder)
        self.engine: Any = engines.open_engine(
            folder, engine, num_threads, allow_any_operation
        )
        extra = folder / "assets.extra"
        if extra.is_dir() and not (folder / model_folder.FILE).is_file():
            folder = extra
        self.settings = dict(model_folder.read(folder).task)
        # From before there was a model.json.
        self.is_former = not self.settings and hasattr(
            self.engine, "signatures"
        )
        if self.is_former:
            from serving import former_exports

            self.settings = former_exports.find_settings(self.engine, folder)
        # Only the user may name code to import.
        trained = self.settings.get("segmenter")
        if trained and trained != segmenter:
            raise ValueError(
                f"{self.path} was trained with --segmenter={trained}, which is "
                "code to import; set the flag if you trust it. Received: "
                f"--segmenter={segmenter}"
            )
        if segmenter and not trained:
            logging.warning(
                "%s was trained without --segmenter, which is not used for it",
                self.path,
            )
        self._kinds: dict[str, type[TextTask]] = {}
        if self.settings.get("name") in TASKS:
            self._prepare(folder)

    def _prepare(self, folder: Path) -> None:
        """Reads what the tasks need."""
        is_lower_case = casing.read_do_lower_case(folder)
        self.tokenizer = FullTokenizer(folder / "vocab.txt", is_lower_case)
        self.tokenizer.segmenter = self.settings.get("segmenter")
        fixed = self.engine.inputs["input_ids"][-1]
        self._pads = bool(fixed)
        longest = min(filter(None, (self.settings["max_seq_length"], fixed)))
        self.max_seq_length = self.settings["max_seq_length"] = longest
        self._longest = fixed or longest
        every: list[type[TextTask]] = [*TASKS[self.settings["name"]], Tokenize]
        kinds = [kind for kind in every if kind.supports(self.settings)]
        if self.is_former:
            from serving import former_exports

            self.tokenizer.set_casing(
                former_exports.find_casing(self.engine, self.tokenizer)
            )
            if Answer in kinds:
                kinds = [former_exports.FormerAnswer, Tokenize]
        if "attention" in getattr(self.engine, "signatures", ()):
            kinds.append(Attention)
        self._kinds = {kind.name: kind for kind in kinds}

    def compute(self, task: TextTask, encoded: Sequence[Encoded]) -> list[Row]:
        """Returns what a task decodes, for each request that it encoded.

        Raises:
            ValueError: the model fails on them.
        """
        kept = iter(
            engines.compute(
                self.engine,
                [each for one in encoded for each in one.inputs],
                task.keep,
                self._longest,
                self._pads or task.pads,
                len(self.tokenizer.tokens) if task.predicts_words else 1,
            )
        )
        return [Row(one, [next(kept) for _ in one.inputs]) for one in encoded]

    def warm_up(self) -> None:
        """Computes an input of each length that inputs are rounded up to.

        The first computation of a length allocates memory, or compiles.
        """
        longest = self._longest
        for length in [longest] if self._pads else engines.lengths(longest):
            each = engines.Input([0] * length, length)
            engines.compute(self.engine, [each], lambda *_: None, longest)

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks that the model supports, its main task first."""
        return [*self._kinds]

    def task(
        self, name: str | None = None, options: TaskOptions = DEFAULTS
    ) -> TextTask:
        """Returns one of its tasks.

        Args:
            name: as `tasks` lists it, or None for the first.
            options: how much of an answer to return.

        Raises:
            ValueError: it does not support that task, or none.
        """
        if not self._kinds:
            raise ValueError(
                f"{self.path} takes no text: it has no {model_folder.FILE} "
                "with its task; export it again, with --vocab_file"
            )
        if name not in (None, *self._kinds):
            raise ValueError(
                f"{self.path} does not {name}; it does "
                f"{', '.join(sorted(self._kinds))}"
            )
        kind = self._kinds[name or self.tasks[0]]
        return kind(self, options)

    def classify(
        self, text_a: Texts, text_b: Texts = "", min_probability: float = 0.0
    ) -> Any:
        """Returns {"label", "probabilities"}, or {"value"} in regression.

        Args:
            text_a: one or several.
            text_b: the second texts of pairs.
            min_probability: below it, "label" is None.
        """
        options = TaskOptions(min_probability=min_probability)
        return self._ask("classify", options, text_a=text_a, text_b=text_b)

    def answer(self, question: Texts, context: Texts, n_best: int = 1) -> Any:
        """Returns {"answer", "probability", "start", "end", ...}.

        Args:
            question: one or several.
            context: one passage for all, or one for each.
            n_best: above 1, "n_best" lists that many answers.
        """
        options = TaskOptions(n_best=n_best)
        return self._ask("answer", options, question=question, context=context)

    def tag(self, text: Texts) -> Any:
        """Returns {"words", "tags", "probabilities", "spans", "entities"}."""
        return self._ask("tag", text=text)

    def fill_mask(self, text: Texts, top_k: int = 5) -> Any:
        """Returns {"masks"}: for each [MASK] the WordPieces that fit."""
        return self._ask("fill-mask", TaskOptions(top_k=top_k), text=text)

    def next_sentence(self, text_a: Texts, text_b: Texts) -> Any:
        """Returns {"probability"} that the second text follows the first."""
        return self._ask("next-sentence", text_a=text_a, text_b=text_b)

    def embed(self, text: Texts, tokens: bool = False) -> Any:
        """Returns {"pooled", "mean", "mean_normalized"}, vectors.

        To compare texts, take the product of their `mean_normalized`: their
        cosine. `pooled` is for the heads of BERT's own tasks.

        Args:
            text: one or several.
            tokens: also return "tokens" and "sequence", their vectors.
        """
        return self._ask("embed", TaskOptions(tokens=tokens), text=text)

    def rerank(self, query: str, passages: Sequence[str]) -> dict[str, Any]:
        """Returns {"ranking"}: {"index", "score"} of each, the best first."""
        many = as_texts("passages", passages)
        task, request = self.task("rerank"), {"query": query, "passages": many}
        task.check(request)
        return task.answer([request])[0]

    def score(self, text: Texts, tokens: bool = False) -> Any:
        """Returns {"score", "perplexity", "num_wordpieces"}.

        Args:
            text: one or several.
            tokens: also return "tokens" and their "log_probabilities".
        """
        return self._ask("score", TaskOptions(tokens=tokens), text=text)

    def zero_shot(
        self,
        text: Texts,
        labels: Sequence[str],
        hypothesis: str = DEFAULTS.hypothesis,
    ) -> Any:
        """Returns {"label", "probabilities", "entailment"}.

        Args:
            text: one or several.
            labels: the labels to choose from.
            hypothesis: sentence about a label, which replaces {}.
        """
        options = TaskOptions(labels=labels, hypothesis=hypothesis)
        return self._ask("zero-shot", options, text=text)

    def tokenize(self, text_a: Texts, text_b: Texts = "") -> Any:
        """Returns {"tokens", "num_wordpieces"}; longer texts are cut."""
        return self._ask("tokenize", text_a=text_a, text_b=text_b)

    def attention(self, text_a: Texts, text_b: Texts = "") -> Any:
        """Returns {"tokens", "attention"}.

        `attention[block][head][i][j]` is how much token i attends to token j.
        """
        return self._ask("attention", text_a=text_a, text_b=text_b)

    def _ask(
        self, name: str, options: TaskOptions = DEFAULTS, **fields: Texts
    ) -> Any:
        """Returns a task's answers."""
        task = self.task(name, options)
        fields = {k: as_texts(k, texts) for k, texts in fields.items()}
        counts = {
            field: len(texts)
            for field, texts in fields.items()
            if not isinstance(texts, str)
        }
        if len({*counts.values()}) > 1:
            raise ValueError(
                "pass as many of each, or one text for all. Received: "
                + ", ".join(f"{n} {field}" for field, n in counts.items())
            )
        requests = [
            {
                field: texts if field not in counts else texts[row]
                for field, texts in fields.items()
            }
            for row in range(next(iter(counts.values()), 1))
        ]
        for request in requests:
            task.check(request)
        try:
            replies = task.answer(requests)
        except ValueError as error:
            # `answer` itself numbers the texts of longer lists.
            where = "text 1: " if counts and len(requests) == 1 else ""
            raise ValueError(f"{where}{error}") from None
        return replies if counts else replies[0]


# The name that reads better where it is called.
load = TextModel


def find_versions(path: str | os.PathLike[str]) -> dict[int, Path]:
    """Returns {version: folder} of the exports in a folder.

    One that is not in a numbered folder is version 1.
    """
    folder = Path(path)

    def is_export(folder: Path) -> bool:
        return any((folder / name).is_file() for name in engines.FILES)

    if is_export(folder):
        return {1: folder}
    return {
        int(inner.name): inner
        for inner in (folder.iterdir() if folder.is_dir() else ())
        if re.fullmatch("[0-9]{1,18}", inner.name) and is_export(inner)
    }
