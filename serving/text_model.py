"""Runs exported models on texts, and returns plain lists and dicts.

    bert = serving.load("output/mrpc_model")
    bert.classify(["The boat left at noon."], ["At noon the boat left."])

predict.py and serve.py call the functions of text_tasks/asking.py with
`TextModel.loaded_export` instead of these methods.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Protocol, TypeAlias, cast, overload

from absl import logging

from data.text.tokenization import FullTokenizer
from exporting import export_checksums
from exporting.export_formats import ExportFormat
from serving import engines
from serving.engines import NetworkInput, pad_batch
from serving.model_cache import unpickle_model
from serving.text_tasks.answer import ANSWER, AnswerReply
from serving.text_tasks.asking import Failure, ask
from serving.text_tasks.classify import (
    CLASSIFY,
    RERANK,
    ClassifyReply,
    RerankReply,
)
from serving.text_tasks.embed import EMBED, EmbedReply
from serving.text_tasks.export_reading import read_export
from serving.text_tasks.loaded_export import AnyLoadedExport
from serving.text_tasks.pretrained import (
    FILL_MASK,
    NEXT_SENTENCE,
    FillMaskReply,
    NextSentenceReply,
)
from serving.text_tasks.request_fields import Request, describe_place
from serving.text_tasks.tag import TAG, TagReply
from serving.text_tasks.text_task import (
    DEFAULT_REPLY_OPTIONS,
    AnyTextTask,
    ContextT,
    HeadT,
    ReplyOptions,
    ReplyT,
    RequestT,
    TextTask,
)
from serving.text_tasks.tokenize import TOKENIZE, TokenizeReply


class TextList(Protocol):
    """Several texts: a list, a tuple or another sequence, but not a str.

    A str is a sequence of str too. Type checkers tell it apart, because its
    `__contains__` accepts only a str.
    """

    def __contains__(self, value: object, /) -> bool:
        """Returns whether a text is in the list."""

    def __getitem__(self, index: int, /) -> str:
        """Returns the text at an index."""

    def __iter__(self) -> Iterator[str]:
        """Iterates over the texts."""


# A text or several.
Texts: TypeAlias = str | TextList
# A dict for one text, a list of dicts for a list of texts. The overloads of a
# method tell a type checker which of the two types a call returns.
Replies: TypeAlias = ReplyT | list[ReplyT]


class TextModel:
    """An exported model, with a method for each text task.

    For one text, each method returns one dict, and for a list of texts a list
    of dicts. The dicts contain plain Python values, as in the output of
    predict.py. The dict for an empty text is empty, and the types describe the
    other dicts. Positions in texts count characters, except `start_byte` and
    `end_byte`. Several threads may use one model. `serving.load` creates it,
    and explains its arguments.

    A pickled model contains only the absolute path of its folder, the name of
    the engine and the number of threads. The process that unpickles it, such as
    a worker of multiprocessing or Dask, loads the folder, and keeps the model
    for the next time. If the folder contains another model by then, the first
    use of the model raises a ValueError.

    A method raises a ValueError if the model does not support the text task or
    if a text is invalid, and a TypeError if an argument is neither a string nor
    a list of strings. If the network fails, for example for lack of memory, the
    ValueError is an `EngineError` of serving/engines/.

    Attributes:
        path: path of the folder of the export that is loaded.
        engine: engine that runs the network.
        checksum: checksum of the files that determine the replies.
        head_settings: settings of the head, from the entry `task` in
            model.json. If the export accepts text, `num_texts` is 1 or 2 if
            the model was trained on single texts or on pairs, None if it is
            unknown.
        columns: names of the columns of the texts that the model was trained
            on, as far as they are known.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        num_threads: int | None = None,
        engine: ExportFormat | None = None,
    ) -> None:
        folder = engines.find_export_folder(path)
        self.path = os.fspath(folder)
        self._num_threads = num_threads
        self.engine = engines.load_engine(folder, engine, num_threads)
        logging.info("%s: engine %s", path, self.engine.name)
        self.checksum = export_checksums.compute_export_checksum(
            folder, self.engine.name
        )
        contents = read_export(folder, self.engine)
        self.head_settings = contents.head_settings
        self.columns = contents.columns
        self._loaded_export = contents.loaded_export
        self._text_task_of_name = contents.text_task_of_name

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Returns what pickle writes: how to load the model again."""
        arguments = (
            type(self),
            os.path.abspath(self.path),
            self._num_threads,
            self.engine.name,
            self.checksum,
        )
        return unpickle_model, arguments

    @property
    def loaded_export(self) -> AnyLoadedExport:
        """The export as text tasks read it.

        Raises:
            ValueError: the model accepts no text.
        """
        if not self._loaded_export:
            raise self._no_text_error()
        return self._loaded_export

    def _no_text_error(self) -> ValueError:
        """Returns the error of a model that accepts only ids."""
        return ValueError(
            f"{self.path} accepts no text: it was exported without "
            "--vocab_file, or its model chooses among several texts. Use "
            "its signature `ids`"
        )

    @property
    def tokenizer(self) -> FullTokenizer:
        """Tokenizer of the model.

        Raises:
            ValueError: the model accepts no text.
        """
        return self.loaded_export.tokenizer

    @property
    def max_seq_length(self) -> int:
        """Maximum number of WordPieces in an input.

        Raises:
            ValueError: the model accepts no text.
        """
        return self.loaded_export.max_seq_length

    def warm_up(self) -> None:
        """Runs the network once for each length to which inputs are padded.

        The first run with inputs of a new length is slow, because the engine
        allocates memory or compiles the network.

        Raises:
            ValueError: the model accepts no text.
        """
        for length in self.loaded_export.batch_limits().lengths:
            padding = NetworkInput([0] * length, length)
            self.engine.run(pad_batch([padding], length))

    @property
    def text_task_names(self) -> list[str]:
        """Names of the model's text tasks, such as "classify", the main first.

        The list is empty if the model accepts no text.
        """
        return [*self._text_task_of_name]

    def text_task(self, name: str | None = None) -> AnyTextTask:
        """Returns a text task of the model, by default the main one.

        Raises:
            ValueError: the model does not support this text task, or accepts no
                text.
        """
        if not self._text_task_of_name:
            raise self._no_text_error()
        if name not in (None, *self._text_task_of_name):
            raise ValueError(
                f"{self.path} does not support {name}; it supports "
                f"{', '.join(sorted(self._text_task_of_name))}"
            )
        return self._text_task_of_name[name or self.text_task_names[0]]

    @overload
    def classify(
        self, text_a: str, text_b: str = "", min_probability: float = 0.0
    ) -> ClassifyReply: ...
    @overload
    def classify(
        self,
        text_a: TextList,
        text_b: Texts = "",
        min_probability: float = 0.0,
    ) -> list[ClassifyReply]: ...
    @overload
    def classify(
        self, text_a: Texts, text_b: TextList, min_probability: float = 0.0
    ) -> list[ClassifyReply]: ...
    def classify(
        self, text_a: Texts, text_b: Texts = "", min_probability: float = 0.0
    ) -> Replies[ClassifyReply]:
        """Returns {"label", "probabilities"}, or {"value"} in regression.

        Args:
            text_a: one or several texts.
            text_b: second text of each pair, or "" for no pairs.
            min_probability: if every probability is lower, "label" is None.
        """
        reply_options = ReplyOptions(min_probability=min_probability)
        return self._ask(CLASSIFY, reply_options, text_a=text_a, text_b=text_b)

    @overload
    def answer(
        self, question: str, context: str, n_best: int = 1
    ) -> AnswerReply: ...
    @overload
    def answer(
        self, question: TextList, context: Texts, n_best: int = 1
    ) -> list[AnswerReply]: ...
    @overload
    def answer(
        self, question: Texts, context: TextList, n_best: int = 1
    ) -> list[AnswerReply]: ...
    def answer(
        self, question: Texts, context: Texts, n_best: int = 1
    ) -> Replies[AnswerReply]:
        """Returns {"answer", "probability", "start", "end", ...}.

        Other keys are "start_byte", "end_byte" and "null_odds": the score of
        "no answer" minus the score of the best answer.

        Args:
            question: one or several questions.
            context: one passage for all questions, or one for each question.
            n_best: maximum number of answers in "n_best". 1 omits "n_best".
        """
        reply_options = ReplyOptions(n_best=n_best)
        return self._ask(
            ANSWER, reply_options, question=question, context=context
        )

    @overload
    def tag(self, text: str) -> TagReply: ...
    @overload
    def tag(self, text: TextList) -> list[TagReply]: ...
    def tag(self, text: Texts) -> Replies[TagReply]:
        """Splits a text into words, and tags them.

        Returns {"words", "tags", "probabilities", "spans", "entities", ...}.
        `spans` are the words' positions, [start, end].
        """
        return self._ask(TAG, text=text)

    @overload
    def fill_mask(self, text: str, top_k: int = 5) -> FillMaskReply: ...
    @overload
    def fill_mask(
        self, text: TextList, top_k: int = 5
    ) -> list[FillMaskReply]: ...
    def fill_mask(self, text: Texts, top_k: int = 5) -> Replies[FillMaskReply]:
        """Returns {"masks"}: the top_k most probable WordPieces per [MASK]."""
        return self._ask(FILL_MASK, ReplyOptions(top_k=top_k), text=text)

    @overload
    def next_sentence(self, text_a: str, text_b: str) -> NextSentenceReply: ...
    @overload
    def next_sentence(
        self, text_a: TextList, text_b: Texts
    ) -> list[NextSentenceReply]: ...
    @overload
    def next_sentence(
        self, text_a: Texts, text_b: TextList
    ) -> list[NextSentenceReply]: ...
    def next_sentence(
        self, text_a: Texts, text_b: Texts
    ) -> Replies[NextSentenceReply]:
        """Returns the "probability" that text_b follows text_a, in a dict."""
        return self._ask(NEXT_SENTENCE, text_a=text_a, text_b=text_b)

    @overload
    def embed(self, text: str, tokens: bool = False) -> EmbedReply: ...
    @overload
    def embed(
        self, text: TextList, tokens: bool = False
    ) -> list[EmbedReply]: ...
    def embed(self, text: Texts, tokens: bool = False) -> Replies[EmbedReply]:
        """Returns vectors of a text: {"pooled", "mean", "mean_normalized"}.

        To compare two texts, use the dot product of their "mean_normalized",
        which is the cosine. "pooled" is the vector that BERT's classification
        heads read.

        Args:
            text: one or several texts.
            tokens: True to also return "tokens", and in "sequence" one vector
                per token.
        """
        return self._ask(EMBED, ReplyOptions(tokens=tokens), text=text)

    @overload
    def rerank(self, query: str, passages: TextList) -> RerankReply: ...
    @overload
    def rerank(
        self, query: TextList, passages: TextList
    ) -> list[RerankReply]: ...
    def rerank(self, query: Texts, passages: TextList) -> Replies[RerankReply]:
        """Returns {"ranking": list of {"index", "score"}}, best passage first.

        "index" is the position of the passage in `passages`.
        """
        return self._ask(RERANK, query=query, passages=passages)

    @overload
    def tokenize(self, text_a: str, text_b: str = "") -> TokenizeReply: ...
    @overload
    def tokenize(
        self, text_a: TextList, text_b: Texts = ""
    ) -> list[TokenizeReply]: ...
    @overload
    def tokenize(
        self, text_a: Texts, text_b: TextList
    ) -> list[TokenizeReply]: ...
    def tokenize(
        self, text_a: Texts, text_b: Texts = ""
    ) -> Replies[TokenizeReply]:
        """Returns {"tokens", "num_wordpieces"}.

        "tokens" are cut at the maximum length. "num_wordpieces" is the number
        of WordPieces before the cut.
        """
        return self._ask(TOKENIZE, text_a=text_a, text_b=text_b)

    def _ask(
        self,
        text_task: TextTask[HeadT, RequestT, ContextT, ReplyT],
        reply_options: ReplyOptions = DEFAULT_REPLY_OPTIONS,
        **fields: Texts,
    ) -> Replies[ReplyT]:
        """Returns the reply to a text, or the replies to several.

        `fields` is {field of a request: one or several texts}. `text_task` has
        the name of the text task and the type of its reply. The model may have
        its own version of the text task.
        """
        own_text_task = self.text_task(text_task.name)
        request: Request = {
            name: _to_texts(name, texts) for name, texts in fields.items()
        }
        requests, is_list = own_text_task.split_request(request)
        replies = ask(
            self.loaded_export, own_text_task, requests, reply_options
        )
        for request_number, reply in enumerate(replies, 1):
            if isinstance(reply, Failure):
                place = describe_place(request_number, is_list)
                error_class: type[ValueError] = ValueError
                if isinstance(reply.error, engines.EngineError):
                    error_class = engines.EngineError
                raise error_class(f"{place}{reply.error}") from reply.error
        # One reply for one request, a list for a list.
        result = replies if is_list else replies[0]
        return cast("Replies[ReplyT]", result)


def load(
    path: str | os.PathLike[str],
    num_threads: int | None = None,
    engine: ExportFormat | None = None,
) -> TextModel:
    """Loads an exported model.

    Args:
        path: folder of an export, or a folder of numbered exports, of which the
            newest is loaded, as in TensorFlow Serving. For the folder of a
            training run, such as `run`, the export `run_model` is loaded. A
            SavedModel is a program that may read and write your files, so load
            only models that you trust.
        num_threads: number of threads, or None for one per CPU.
        engine: "litert", "onnx" or "saved_model". Only "saved_model" needs
            TensorFlow. None chooses one that is installed and whose file is in
            the folder.

    Raises:
        FileNotFoundError: the folder contains no export.
        OSError: the export is damaged, or a file of another export replaced its
            network.
        ValueError: the engine is not installed, or model.json lacks a setting
            or contains one that does not fit the network.
    """
    return TextModel(path, num_threads, engine)


def _to_texts(name: str, texts: Iterable[str]) -> Texts:
    """Returns a text as it is, and several texts as a list.

    Raises:
        TypeError: the argument is not iterable, or it is bytes, which are not
            text, a set, which has no order, or a dict.
    """
    if isinstance(texts, str):
        return texts
    if isinstance(texts, bytes | Mapping | Set):
        raise TypeError(f"{name} must be a string or a list of strings")
    return [*texts]
