"""Runs exported models on texts, and returns plain lists and dicts.

    bert = serving.load("output/mrpc_model")
    bert.classify(["The boat left at noon."], ["At noon the boat left."])

predict.py and serve.py create a `ModelAsker` (text_tasks/asking.py) of
`TextModel.text_engine` instead of calling these methods.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Set
from typing import cast

from absl import logging

from data.text.tokenization import FullTokenizer
from exporting import checksums
from exporting.export_formats import ExportFormat
from serving import engines
from serving.engines import NetworkInput, pad_batch
from serving.model_cache import unpickle_model
from serving.text_task_methods import Replies, TextTaskMethods
from serving.text_tasks.asking import Failure, ModelAsker
from serving.text_tasks.export_reading import read_export
from serving.text_tasks.request_fields import Request, Texts, describe_place
from serving.text_tasks.text_engine import AnyTextEngine, HeadT
from serving.text_tasks.text_task import (
    DEFAULT_REPLY_OPTIONS,
    AnyTextTask,
    ContextT,
    ReplyOptions,
    ReplyT,
    RequestT,
    TextTask,
)


class TextModel(TextTaskMethods):
    """An exported model, with a method for each text task.

    For one text, each method returns one dict, and for a list of texts a list
    of dicts. The dicts contain plain Python values, as in the output of
    predict.py. The dict for an empty text is empty. Positions in texts count
    characters, except `start_byte` and `end_byte`. Several threads may use one
    model. `serving.load` creates it, and explains its arguments.

    A pickled model contains only the absolute path of its folder, the name of
    the engine and the number of threads. The process that unpickles it, such as
    a worker of multiprocessing or Dask, loads the folder, and keeps the model
    for the next time. If the folder contains another model by then, the first
    use of the model raises a ValueError.

    A method raises a ValueError if the model does not support the text task or
    if a text is invalid, and a TypeError if an argument is neither a string nor
    a list of strings.

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
        self.checksum = checksums.compute_export_checksum(
            folder, self.engine.name
        )
        contents = read_export(folder, self.engine)
        self.head_settings = contents.head_settings
        self.columns = contents.columns
        self._text_engine = contents.text_engine
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
    def text_engine(self) -> AnyTextEngine:
        """The engine with its tokenizer, as text tasks read it.

        Raises:
            ValueError: the model accepts no text.
        """
        if not self._text_engine:
            raise self._no_text_error()
        return self._text_engine

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
        return self.text_engine.tokenizer

    @property
    def max_seq_length(self) -> int:
        """Maximum number of WordPieces in an input.

        Raises:
            ValueError: the model accepts no text.
        """
        return self.text_engine.max_seq_length

    def warm_up(self) -> None:
        """Runs the network once for each length to which inputs are padded.

        The first run with inputs of a new length is slow, because the engine
        allocates memory or compiles the network.

        Raises:
            ValueError: the model accepts no text.
        """
        for length in self.text_engine.batch_limits().lengths:
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

    def _ask(
        self,
        text_task: TextTask[HeadT, RequestT, ContextT, ReplyT],
        reply_options: ReplyOptions = DEFAULT_REPLY_OPTIONS,
        **fields: Texts,
    ) -> Replies[ReplyT]:
        own_text_task = self.text_task(text_task.name)
        request: Request = {
            name: _to_texts(name, texts) for name, texts in fields.items()
        }
        requests, is_list = own_text_task.split_request(request)
        asker = ModelAsker(self.text_engine, own_text_task, reply_options)
        replies = asker.ask(requests)
        for request_number, reply in enumerate(replies, 1):
            if isinstance(reply, Failure):
                place = describe_place(request_number, is_list)
                raise ValueError(f"{place}{reply.error}") from None
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
