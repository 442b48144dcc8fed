"""Collects Prometheus metrics, and writes the request log."""

import contextlib
import dataclasses
import datetime
import errno
import json
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any

from absl import logging
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from starlette.requests import Request

from files.json_files import parse_json
from serving.server.versions import ServedModel

_SECONDS = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1),
    *(0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)


@dataclasses.dataclass
class RequestRecord:
    """A request, and the properties that are counted and logged.

    Attributes:
        request: the request.
        content: body of a POST request, for other methods b"".
        model: name of the model, or "" if the request names no served model.
        operation: name of the signature or the task that the request calls. For
            requests about a model, "status", "metadata" or "ready".
        num_texts: number of rows. A row is one text or one pair of texts.
        status: HTTP status of the reply.
        error: error message of the reply, or "".
    """

    request: Request
    content: bytes = b""
    model: str = ""
    operation: str = ""
    num_texts: int = 0
    status: int = 500
    error: str = ""


class Monitoring:
    """Counts requests and batches, and logs requests.

    Args:
        request_log: file to which each request appends a JSON line, or None.

    Raises:
        OSError: the file cannot be written.
        ValueError: the file exists and is not a request log.
    """

    def __init__(self, request_log: str | None = None) -> None:
        self.registry = CollectorRegistry()
        each: Any = {"registry": self.registry, "labelnames": ["model"]}
        seconds = each | {"buckets": _SECONDS}
        rows = each | {"buckets": [1, 2, 4, 8, 16, 32, 64, 128, 256]}
        labels = each | {"labelnames": ["model", "what", "status"]}
        self._requests = Counter(
            "bert_requests", "Requests that got a reply.", **labels
        )
        self._seconds = Histogram(
            "bert_request_seconds",
            "Seconds from the start of a request to its reply.",
            **seconds,
        )
        self._rows = Histogram("bert_batch_rows", "Texts per batch.", **rows)
        self._batch_seconds = Histogram(
            "bert_batch_seconds", "Seconds to compute a batch.", **seconds
        )
        self._waiting = Gauge(
            "bert_waiting_requests", "Requests that wait for the model.", **each
        )
        self._version = Gauge(
            "bert_model_version", "Version of the model that is served.", **each
        )
        self._log = None if request_log is None else _open_log(request_log)

    def on_batch(self, model: str, rows: int, seconds: float) -> None:
        """Adds a batch's number of rows and duration to the model's metrics."""
        self._rows.labels(model).observe(rows)
        self._batch_seconds.labels(model).observe(seconds)

    @contextlib.contextmanager
    def observe(self, request: Request) -> Iterator[RequestRecord]:
        """Yields a RequestRecord to fill, then counts and logs it."""
        began = time.monotonic()
        record = RequestRecord(request)
        try:
            yield record
        finally:
            seconds = time.monotonic() - began
            # Use only names of existing models and operations as Prometheus
            # labels, so that wrong names do not create new time series.
            is_known = record.model and record.status < 400
            operation = record.operation if is_known else ""
            self._requests.labels(record.model, operation, record.status).inc()
            self._seconds.labels(record.model).observe(seconds)
            if self._log is not None:
                self._write(self._log, record, seconds)

    def _write(self, log: int, record: RequestRecord, seconds: float) -> None:
        request = record.request
        now = datetime.datetime.now(datetime.UTC)
        line: dict[str, Any] = {
            "time": now.isoformat(timespec="milliseconds"),
            "client": request.client.host if request.client else None,
            "method": request.method,
            "path": request.url.path[:200],
            "status": record.status,
            "seconds": round(seconds, 6),
            "num_texts": record.num_texts,
        }
        # Do not log messages of status 400, because they may quote a text.
        if record.error and record.status != 400:
            line["error"] = record.error[:200]
        data = json.dumps(line).encode() + b"\n"
        try:
            if os.write(log, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            # Continue to serve without a log, for example if the disk is full.
            logging.warning(
                "--request_log: %s. Requests are no longer logged", error
            )
            self._log = None

    def render(self, models: Mapping[str, ServedModel]) -> tuple[bytes, str]:
        """Returns the metrics in Prometheus's format, and their media type."""
        for name, model in models.items():
            self._waiting.labels(name).set(len(model.current.batcher))
            self._version.labels(name).set(model.current.number)
        return generate_latest(self.registry), CONTENT_TYPE_LATEST


def _open_log(path: str) -> int:
    """Opens a request log for appending and returns its file descriptor."""
    is_torn = False
    if os.path.isfile(path) and os.path.getsize(path):
        with open(path, "rb") as file:
            first = file.readline(1 << 16)
            file.seek(-1, os.SEEK_END)
            is_torn = file.read() != b"\n"
        try:
            is_ours = {"time", "status"} <= parse_json(first, path).keys()
        except ValueError:
            is_ours = False
        if not is_ours:
            raise ValueError(
                f"--request_log={path} is not a request log; use another path"
            )
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    if is_torn:
        # End the last line, which is incomplete because the disk was full.
        os.write(log, b"\n")
    return log
