"""Runs exported models on texts, and returns plain lists and dicts.

    bert = serving.load("output/mrpc_model")
    bert.classify(["The boat left at noon."], ["At noon the boat left."])

predict.py and serve.py call `ask_model` (text_tasks/task_steps.py) with the
model that `TextModel.prepared` contains.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import cast

from absl import logging

from data.text.tokenization import FullTokenizer
from model_folders import model_json
from model_folders.model_json_types import HeadSettings
from model_folders.reading import preset_reading, presets
from serving import engines
from serving.engines.runtimes import ExportFormat
from serving.models import checksums
from serving.models.model_cache import ModelCache, UnloadableModel
from serving.models.task_methods import Replies, TaskMethods
from serving.prepared_model import (
    PreparedModel,
    create_prepared_model,
    read_tokenizer,
)
from serving.serving_flags import DEFAULT_TASK_FLAGS, TaskFlags
from serving.text_tasks import (
    TEXT_TASKS_OF_CLASS,
    check_settings,
    text_tasks_of,
)
from serving.text_tasks.request_fields import Request, Texts
from serving.text_tasks.request_lists import describe_place, split_request
from serving.text_tasks.task_steps import Failure, ask_model
from serving.text_tasks.text_task import (
    AnyTextTask,
    ContextT,
    Reply,
    ReplyT,
    TextTask,
)


class TextModel(TaskMethods):
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
    text is invalid, and a TypeError if an argument is neither a string nor a
    list of strings.

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
        path: path of the folder of the export that is loaded.
        engine: engines.Engine that runs the network.
        checksum: checksum of the files that determine the answers.
        settings: settings of the head, from the entry `task` in model.json. {}
            if the export accepts no text. `num_texts` is 1 or 2 if the model
            was trained on single texts or on pairs, None if it is unknown.
        columns: names of the columns of the texts that the model was trained
            on, as far as they are known.

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
        engine: ExportFormat | None = None,
    ) -> None:
        folder = engines.find_export(path)
        self.path = os.fspath(folder)
        self.engine = engines.load_engine(folder, engine, num_threads)
        self._num_threads = num_threads
        logging.info("%s: engine %s", path, self.engine.name)
        self.checksum = checksums.checksum_of_export(folder, self.engine.name)
        description_folder = _find_description_folder(folder)
        preset = preset_reading.read_preset(description_folder)
        checksums.check_network_files(
            folder, self.engine.name, preset.model_json
        )
        self.settings = _read_settings(preset)
        self.columns: Sequence[str | None] = ()
        self._text_tasks: dict[str, AnyTextTask] = {}
        self._prepared: PreparedModel | None = None
        if preset.model_class in TEXT_TASKS_OF_CLASS:
            tokenizer = read_tokenizer(description_folder, preset)
            model_json_file = description_folder / model_json.MODEL_JSON_FILE
            check_settings(preset.model_class, self.settings, model_json_file)
            self._prepared = create_prepared_model(
                self.engine, tokenizer, self.settings
            )
            self.settings = self._prepared.settings
            self.columns = _read_columns(preset)
            self._text_tasks = text_tasks_of(preset.model_class, self.settings)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Returns what pickle writes: how to load the model again."""
        path = os.path.abspath(self.path)
        arguments = path, self._num_threads, self.engine.name, self.checksum
        return _unpickle_model, arguments

    @property
    def prepared(self) -> PreparedModel:
        """The model as tasks read it.

        Raises:
            ValueError: the model accepts no text.
        """
        if not self._prepared:
            raise self._no_text_error()
        return self._prepared

    def _no_text_error(self) -> ValueError:
        """Returns the error of a model that accepts only ids."""
        return ValueError(
            f"{self.path} accepts no text: it was exported without "
            "--vocab_file, or its model chooses among several texts. Use "
            "its signature `ids`"
        )

    @property
    def tokenizer(self) -> FullTokenizer:
        """FullTokenizer of the model.

        Raises:
            ValueError: the model accepts no text.
        """
        return self.prepared.tokenizer

    @property
    def max_seq_length(self) -> int:
        """Maximum number of WordPieces in an input.

        Raises:
            ValueError: the model accepts no text.
        """
        return self.prepared.max_seq_length

    def warm_up(self) -> None:
        """Runs the network once for each length to which inputs are padded.

        The first run with inputs of a new length is slow, because the engine
        allocates memory or compiles the network.

        Raises:
            ValueError: the model accepts no text.
        """
        self.prepared.warm_up()

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks that the model supports, the main task first."""
        return [*self._text_tasks]

    def task(self, name: str | None = None) -> AnyTextTask:
        """Returns a task of the model, by default the main task.

        Raises:
            ValueError: the model does not support this task, or supports no
                task.
        """
        if not self._text_tasks:
            raise self._no_text_error()
        if name not in (None, *self._text_tasks):
            raise ValueError(
                f"{self.path} does not support {name}; it supports "
                f"{', '.join(sorted(self._text_tasks))}"
            )
        return self._text_tasks[name or self.tasks[0]]

    def _ask(
        self,
        text_task: TextTask[ContextT, ReplyT],
        task_flags: TaskFlags = DEFAULT_TASK_FLAGS,
        **fields: Texts,
    ) -> Replies[ReplyT]:
        own_text_task = self.task(text_task.name)
        request: Request = {
            name: _to_texts(name, texts) for name, texts in fields.items()
        }
        requests, is_list = split_request(own_text_task, request)
        replies: list[Reply] = []
        outcomes = ask_model(self.prepared, own_text_task, requests, task_flags)
        for request_number, reply in enumerate(outcomes, 1):
            if isinstance(reply, Failure):
                where = describe_place(request_number, is_list)
                raise ValueError(f"{where}{reply.error}") from None
            replies.append(reply)
        # One reply for one request, a list for a list.
        result = replies if is_list else replies[0]
        return cast("Replies[ReplyT]", result)


# A shorter name for calls: `serving.load(path)`.
load = TextModel
_cache = ModelCache(TextModel)


def load_cached(
    path: str,
    num_threads: int | None,
    engine: ExportFormat | None,
    checksum: str = "",
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
    return _cache.load(path, num_threads, engine, checksum)


def _unpickle_model(
    path: str,
    num_threads: int | None,
    engine: ExportFormat,
    checksum: str,
) -> TextModel | UnloadableModel:
    """Returns what `TextModel.__reduce__` pickled."""
    return _cache.unpickle(path, num_threads, engine, checksum)


def _find_description_folder(folder: Path) -> Path:
    """Returns the folder in an export that contains model.json and so on."""
    extra = folder / "assets.extra"
    has_model_json = (folder / model_json.MODEL_JSON_FILE).is_file()
    return extra if extra.is_dir() and not has_model_json else folder


def _read_settings(preset: presets.Preset) -> HeadSettings:
    """Returns the settings of the head, from what the export states."""
    settings: HeadSettings = {**preset.head_settings, "labels": preset.labels}
    if preset.model_class in TEXT_TASKS_OF_CLASS:
        # A run knows better than the command that exported it.
        stated = settings.get("num_texts")
        recorded = preset.recorded_settings
        settings["num_texts"] = recorded.get("num_texts", stated)
    return settings


def _read_columns(preset: presets.Preset) -> Sequence[str | None]:
    """Returns the columns of the texts that the model was trained on."""
    flags = preset.recorded_settings.get("flags", {})
    return flags.get("text_column"), flags.get("text_b_column")


def _to_texts(name: str, texts: Iterable[str]) -> Texts:
    """Returns a text as it is, and several texts as a list.

    Raises:
        TypeError: the argument is not iterable. Or it is of bytes, which are no
            texts, a set, which has no order, or a dict.
    """
    if isinstance(texts, str):
        return texts
    if isinstance(texts, bytes | Mapping | Set):
        raise TypeError(f"{name} must be a string or a list of strings")
    return [*texts]
