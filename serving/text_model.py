"""Runs exported models on texts, and returns plain lists and dicts.

    bert = serving.load("output/mrpc_model")
    bert.classify(["The boat left at noon."], ["At noon the boat left."])

predict.py and serve.py call `TextTask.ask` with a model (tasks/base.py).
"""

import functools
import os
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, overload

from absl import logging

from data.text.tokenization import FullTokenizer
from modeling.folders import model_json, presets
from modeling.folders.model_entries import HeadSettings
from serving import checksums, engines
from serving.requests import expand_lists
from serving.serving_flags import DEFAULT_TASK_FLAGS, TaskFlags
from serving.tasks import TASKS, check_settings, tasks_of
from serving.tasks.base import AnyTextTask, Reply, TextList, Texts

# A dict for one text, a list of dicts for a list of texts. The overloads of a
# method tell a type checker which of them its arguments return.
Answers = Reply | list[Reply]


class TextModel:
    """An exported model that accepts text.

    For one text, each method returns one dict, and for a list of texts a list
    of dicts. The dicts contain plain Python values, as in the output of
    predict.py. The dict for an empty text is empty. Positions in texts count
    characters, except `start_byte` and `end_byte`. Several threads may use one
    model. `serving.load` is another name of this class.

    A pickled model is the absolute path of its folder, the name of the engine
    and the number of threads. The process that unpickles it, such as a worker
    of multiprocessing or Dask, loads the folder, and keeps the model for the
    next time. If the folder contains another model by then, the first use of
    the model raises a ValueError.

    A method raises a ValueError if the model does not support the task or if a
    text is invalid, and a TypeError if an argument is not a list either.

    Args:
        path: folder of an export, or a folder of numbered exports, of which the
            newest is loaded, as in TensorFlow Serving. For the --output_dir of
            a run, OUTPUT_DIR_model is loaded. A SavedModel is a program that
            may read and write your files, so load only models that you trust.
        num_threads: number of threads, or None for one per CPU.
        engine: "litert", "onnx" or "saved_model". Only "saved_model" needs
            TensorFlow. None chooses an installed runtime whose file is in the
            folder.

    Attributes:
        engine: engines.Engine that runs the network.
        checksum: checksum of the files that determine the answers.
        settings: settings of the head, from the entry `task` in model.json. {}
            if the export accepts no text. `num_texts` is 1 or 2 if the model
            was trained on single texts or on pairs, None if it is unknown.
        columns: names of the columns of the texts that the model was trained
            on, as far as they are known.
        tokenizer: FullTokenizer of the model, if the export accepts text.

    Raises:
        FileNotFoundError: the folder contains no export.
        OSError: the export is damaged, or a file of another export replaced its
            network.
        ValueError: the runtime is not installed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        num_threads: int | None = None,
        engine: str | None = None,
    ) -> None:
        folder = engines.find_export(path)
        self.path = os.fspath(folder)
        self.engine = engines.open_engine(folder, engine, num_threads)
        self._num_threads = num_threads
        logging.info("%s: engine %s", path, self.engine.name)
        self.checksum = checksums.of_export(folder, self.engine.name)
        extra = folder / "assets.extra"
        if extra.is_dir() and not (folder / model_json.FILE).is_file():
            folder = extra
        described = presets.read_preset(folder)
        checksums.check_network(
            Path(self.path), self.engine.name, described.described
        )
        self.settings: HeadSettings = {
            **described.settings,
            "labels": described.labels,
        }
        self.columns: Sequence[str | None] = ()
        self._tasks: dict[str, AnyTextTask] = {}
        if described.head in TASKS:
            self._prepare(folder, described)

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns what pickle writes: how to load the model again."""
        path = os.path.abspath(self.path)
        arguments = path, self._num_threads, self.engine.name, self.checksum
        return _load_again, arguments

    def _prepare(self, folder: Path, described: presets.Preset) -> None:
        """Loads what the tasks need: the tokenizer and the settings."""
        self.tokenizer = FullTokenizer(
            folder / "vocab.txt", described.do_lower_case
        )
        self.tokenizer.check_vocab()
        recorded = described.recorded_settings
        trained = recorded.get("tokenizer", {}).get("vocab")
        if trained not in (None, self.tokenizer.identity["vocab"]):
            raise ValueError(
                f"{self.tokenizer.vocab_file} is not the vocabulary that "
                "the model was trained with. Export or copy the model again"
            )
        flags = recorded.get("flags", {})
        self.columns = flags.get("text_column"), flags.get("text_b_column")
        settings = self.settings
        file = folder / model_json.FILE
        check_settings(described.head or "", settings, file)
        # A run knows better than the command that exported it.
        stated = settings.get("num_texts")
        settings["num_texts"] = recorded.get("num_texts", stated)
        fixed = self.engine.inputs["input_ids"][-1]
        longest = min(filter(None, (settings["max_seq_length"], fixed)))
        self.max_seq_length = settings["max_seq_length"] = longest
        # Google's script pads the windows of SQuAD, and padding is a candidate
        # for an answer.
        self.pads = settings.get("trim_padding") is False
        self._tasks = tasks_of(described.head or "", settings)

    def warm_up(self) -> None:
        """Runs the network once for each length to which inputs are padded.

        The first run with inputs of a new length is slow, because the engine
        allocates memory or compiles the network.
        """
        for length in self.engine.lengths(self.max_seq_length, self.pads):
            padding = engines.Input([0] * length, length)
            self.engine.run(engines.pad_batch([padding], length))

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks that the model supports, the main task first."""
        return [*self._tasks]

    def task(self, name: str | None = None) -> AnyTextTask:
        """Returns a task of the model, by default the main task.

        Raises:
            ValueError: the model does not support this task, or supports no
                task.
        """
        if not self._tasks:
            raise ValueError(
                f"{self.path} accepts no text: it was exported without "
                "--vocab_file, or its model chooses among several texts. Use "
                "its signature `ids`"
            )
        if name not in (None, *self._tasks):
            raise ValueError(
                f"{self.path} does not support {name}; it supports "
                f"{', '.join(sorted(self._tasks))}"
            )
        return self._tasks[name or self.tasks[0]]

    @overload
    def classify(
        self, text_a: str, text_b: str = "", min_probability: float = 0.0
    ) -> Reply: ...
    @overload
    def classify(
        self,
        text_a: TextList,
        text_b: Texts = "",
        min_probability: float = 0.0,
    ) -> list[Reply]: ...
    @overload
    def classify(
        self, text_a: Texts, text_b: TextList, min_probability: float = 0.0
    ) -> list[Reply]: ...
    def classify(
        self, text_a: Texts, text_b: Texts = "", min_probability: float = 0.0
    ) -> Answers:
        """Returns {"label", "probabilities"}, or {"value"} in regression.

        Args:
            text_a: one or several texts.
            text_b: second text of each pair, or "" for no pairs.
            min_probability: if every probability is lower, "label" is None.
        """
        options = TaskFlags(min_probability=min_probability)
        return self._ask("classify", options, text_a=text_a, text_b=text_b)

    @overload
    def answer(self, question: str, context: str, n_best: int = 1) -> Reply: ...
    @overload
    def answer(
        self, question: TextList, context: Texts, n_best: int = 1
    ) -> list[Reply]: ...
    @overload
    def answer(
        self, question: Texts, context: TextList, n_best: int = 1
    ) -> list[Reply]: ...
    def answer(
        self, question: Texts, context: Texts, n_best: int = 1
    ) -> Answers:
        """Returns {"answer", "probability", "start", "end", ...}.

        Other keys are "start_byte", "end_byte" and "null_odds": the score of
        "no answer" minus the score of the best answer.

        Args:
            question: one or several questions.
            context: one passage for all questions, or one for each question.
            n_best: maximum number of answers in "n_best". 1 omits "n_best".
        """
        options = TaskFlags(n_best=n_best)
        return self._ask("answer", options, question=question, context=context)

    @overload
    def tag(self, text: str) -> Reply: ...
    @overload
    def tag(self, text: TextList) -> list[Reply]: ...
    def tag(self, text: Texts) -> Answers:
        """Splits a text into words, and tags them.

        Returns {"words", "tags", "probabilities", "spans", "entities", ...}.
        `spans` are the words' positions, [start, end].
        """
        return self._ask("tag", text=text)

    @overload
    def fill_mask(self, text: str, top_k: int = 5) -> Reply: ...
    @overload
    def fill_mask(self, text: TextList, top_k: int = 5) -> list[Reply]: ...
    def fill_mask(self, text: Texts, top_k: int = 5) -> Answers:
        """Returns {"masks"}: the top_k most probable WordPieces per [MASK]."""
        return self._ask("fill-mask", TaskFlags(top_k=top_k), text=text)

    @overload
    def next_sentence(self, text_a: str, text_b: str) -> Reply: ...
    @overload
    def next_sentence(self, text_a: TextList, text_b: Texts) -> list[Reply]: ...
    @overload
    def next_sentence(self, text_a: Texts, text_b: TextList) -> list[Reply]: ...
    def next_sentence(self, text_a: Texts, text_b: Texts) -> Answers:
        """Returns the "probability" that text_b follows text_a, in a dict."""
        return self._ask("next-sentence", text_a=text_a, text_b=text_b)

    @overload
    def embed(self, text: str, tokens: bool = False) -> Reply: ...
    @overload
    def embed(self, text: TextList, tokens: bool = False) -> list[Reply]: ...
    def embed(self, text: Texts, tokens: bool = False) -> Answers:
        """Returns vectors of a text: {"pooled", "mean", "mean_normalized"}.

        To compare two texts, use the dot product of their "mean_normalized",
        which is the cosine. "pooled" is the vector that BERT's classification
        heads read.

        Args:
            text: one or several texts.
            tokens: True to also return "tokens", and in "sequence" one vector
                per token.
        """
        return self._ask("embed", TaskFlags(tokens=tokens), text=text)

    @overload
    def rerank(self, query: str, passages: TextList) -> Reply: ...
    @overload
    def rerank(self, query: TextList, passages: TextList) -> list[Reply]: ...
    def rerank(self, query: Texts, passages: TextList) -> Answers:
        """Returns {"ranking": list of {"index", "score"}}, best passage first.

        "index" is the position of the passage in `passages`.
        """
        return self._ask("rerank", query=query, passages=passages)

    @overload
    def tokenize(self, text_a: str, text_b: str = "") -> Reply: ...
    @overload
    def tokenize(self, text_a: TextList, text_b: Texts = "") -> list[Reply]: ...
    @overload
    def tokenize(self, text_a: Texts, text_b: TextList) -> list[Reply]: ...
    def tokenize(self, text_a: Texts, text_b: Texts = "") -> Answers:
        """Returns {"tokens", "num_wordpieces"}.

        "tokens" are cut at the maximum length. "num_wordpieces" is the number
        of WordPieces before the cut.
        """
        return self._ask("tokenize", text_a=text_a, text_b=text_b)

    def _ask(
        self,
        task_name: str,
        options: TaskFlags = DEFAULT_TASK_FLAGS,
        **fields: Texts,
    ) -> Answers:
        task = self.task(task_name)
        request = {
            name: _to_texts(name, texts) for name, texts in fields.items()
        }
        requests, is_many = expand_lists(task, request)
        replies: list[Reply] = []
        for number, reply in enumerate(task.ask(self, requests, options), 1):
            if isinstance(reply, ValueError):
                where = f"text {number}: " if is_many else ""
                raise ValueError(f"{where}{reply}") from None
            replies.append(reply)
        return replies if is_many else replies[0]


# A shorter name for calls: `serving.load(path)`.
load = TextModel


class _NotLoaded:
    """Stands for a model that a process could not load, and says why."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  as the model's
        if name.startswith("_"):
            raise AttributeError(name)
        # A pickled method, such as the function of a pool, is looked up while
        # it is unpickled.
        if callable(getattr(TextModel, name, None)):
            return functools.partial(_fail, self._error)
        raise self._error


def _fail(error: Exception, *_: object, **__: object) -> NoReturn:
    raise error


def _load_again(
    path: str, num_threads: int | None, engine: str, checksum: str
) -> TextModel | _NotLoaded:
    """Loads the model of a pickle, or returns what raises the error later.

    An error while a worker unpickles its task ends the worker of a pool of
    multiprocessing, which then waits forever.
    """
    try:
        model = load_once(path, num_threads, engine, checksum)
        if model.checksum != checksum:
            raise ValueError(
                f"{path} contains another model than when serving.load() read "
                "it. Load the folder again, and then start the workers"
            )
        return model
    except Exception as error:
        return _NotLoaded(error)


class _ModelKey(NamedTuple):
    """What tells apart the models that a process loads.

    Attributes:
        path: absolute path of the folder.
        num_threads: number of threads.
        engine: name of the runtime, "" to choose one.
        checksum: checksum of the model, "" if it is unknown.
    """

    path: str
    num_threads: int | None
    engine: str
    checksum: str


# The model that this process keeps for its next task. Each task of a pool is
# pickled by itself. The list has at most one entry, which an assignment
# replaces at once, because threads may load models at the same time.
_kept: list[tuple[_ModelKey, TextModel]] = []


def load_once(
    path: str, num_threads: int | None, engine: str | None, checksum: str = ""
) -> TextModel:
    """Returns a model, as `serving.load` does. A process loads it only once.

    The process keeps the model that was loaded last.

    Args:
        path: folder of the export.
        num_threads: number of threads.
        engine: name of the runtime, None to choose one.
        checksum: checksum of the model, if it is known. A worker of a cluster
            may have kept the model of an earlier job from the same folder. If
            the folder contains another model, the function returns that model.
    """
    key = _ModelKey(os.path.abspath(path), num_threads, engine or "", checksum)
    for kept_key, model in _kept:
        if kept_key == key:
            return model
    model = TextModel(path, num_threads, engine)
    loaded_key = _ModelKey(
        os.path.abspath(model.path),
        num_threads,
        model.engine.name,
        model.checksum,
    )
    _kept[:] = [(loaded_key, model)]
    return model


def _to_texts(name: str, texts: Iterable[str]) -> Texts:
    """Sets and dicts are iterable too, but have no order or texts as keys."""
    if isinstance(texts, str):
        return texts
    if isinstance(texts, bytes | Mapping | Set):
        raise TypeError(f"{name} must be a string or a list of strings")
    return [*texts]
