"""Models of serve.py that return each text, and note when they compute it.

For example:

    engine = EchoEngine()
    worker = create_echo_worker(engine)
    (reply,) = await submit(worker, TASK, "a")
    assert engine.computed == ["a"]
"""

import asyncio
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypedDict, cast

from serving.engines import (
    EngineError,
    EngineOptions,
    NetworkInput,
    OutputArrays,
)
from serving.http.call_queue import QueuedCall
from serving.http.model_worker import ModelWorker
from serving.http.server_state import ExportToServe
from serving.text_model import TextModel
from serving.text_tasks.loaded_export import AnyLoadedExport
from serving.text_tasks.request_fields import RequestError, RequestField
from serving.text_tasks.text_task import (
    AnyTextTask,
    EncodedRequest,
    Reply,
    ReplyOptions,
    TextTask,
)


class TextRequest(TypedDict):
    """A request to the text tasks below."""

    text: str


class UnprintableError(RequestError):
    """An error that cannot be told to the client."""

    def __str__(self) -> str:
        """Raises another error."""
        raise RuntimeError("no message")


def _encode(
    loaded_export: AnyLoadedExport, request: TextRequest
) -> EncodedRequest[str]:
    text = request["text"]
    # The engine below reads texts in the place of ids.
    return EncodedRequest([NetworkInput(cast(list[int], [text]), 1)], text)


def _decode(
    loaded_export: AnyLoadedExport,
    text: str,
    outputs: list[OutputArrays],
    reply_options: ReplyOptions,
) -> Reply:
    """Returns what the engine computed, except for three texts."""
    if text == "bad":
        raise RequestError("bad")
    if text == "bug in decoding":
        raise ValueError("shapes do not match")
    if text == "unprintable":
        raise UnprintableError
    (computed,) = outputs
    return {"text": computed["text"]}


TASK = TextTask("task", _encode, _decode, [RequestField("text")])
OTHER_TASK = TextTask("other", _encode, _decode, [RequestField("text")])


class EchoEngine:
    """Computes a text in each slice, and notes what it computes.

    It fails on a batch with the text "broken", and has a bug for "bug".

    Args:
        wait: function that returns when a batch may run.
        output_of: function from a text to what is computed, by default the
            text itself.

    Attributes:
        batches: the texts of each batch.
        computed: all texts, in the order in which they were computed.
    """

    name = "echo"

    def __init__(
        self,
        wait: Callable[[], object] = lambda: None,
        output_of: Callable[[str], object] = str,
    ) -> None:
        self._wait = wait
        self._output_of = output_of
        self.batches: list[list[str]] = []
        self.computed: list[str] = []

    def run_all(
        self, inputs: Mapping[int, list[Any]], limits: object
    ) -> Iterator[dict[int, list[dict[str, object]]]]:
        """Yields {key of a request: its output}, one request in each slice."""
        self._wait()
        texts = {key: text.ids[0] for key, (text,) in inputs.items()}
        self.batches.append([*texts.values()])
        if "broken" in texts.values():
            raise EngineError("broken")
        if "bug" in texts.values():
            raise RuntimeError("bug")
        for key, text in texts.items():
            self.computed.append(text)
            yield {key: [{"text": self._output_of(text)}]}


class EchoModel:
    """What a server reads of a `TextModel`, with an EchoEngine."""

    text_task_names = ("task",)
    head_settings: Mapping[str, object] = MappingProxyType({})

    def __init__(self, engine: EchoEngine) -> None:
        self.engine = engine
        self.loaded_export = SimpleNamespace(
            engine=engine, max_seq_length=8, batch_limits=lambda _: None
        )

    def text_task(self, name: str = "task") -> AnyTextTask:
        """Returns the only text task."""
        return TASK

    def warm_up(self) -> None:
        """Does nothing."""


def create_echo_worker(engine: EchoEngine, turn_s: float = 0.05) -> ModelWorker:
    """Returns the worker of a model of the server."""
    text_model = cast(TextModel, EchoModel(engine))
    return ModelWorker(text_model, turn_s)


@dataclasses.dataclass(frozen=True, kw_only=True)
class EchoExport(ExportToServe):
    """An export of a model of the server, whose folder is not read."""

    folder: str = ""
    engine_options: EngineOptions = dataclasses.field(
        default_factory=EngineOptions
    )
    engine: EchoEngine

    def load_worker(self) -> ModelWorker:
        """Returns the worker of the model."""
        return create_echo_worker(self.engine)


def submit(
    worker: ModelWorker, text_task: AnyTextTask, *texts: str
) -> asyncio.Future[list[bytes]]:
    """Queues a call of some texts, and returns its replies."""
    return worker.submit(
        QueuedCall.create(text_task, [{"text": text} for text in texts])
    )


def create_call(*texts: object, text_task: AnyTextTask = TASK) -> QueuedCall:
    """Returns a call of these texts in an event loop of its own."""

    async def create() -> QueuedCall:
        return QueuedCall.create(text_task, [{"text": text} for text in texts])

    return asyncio.run(create())
