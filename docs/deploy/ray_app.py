"""Serves an exported model with Ray Serve. See ray_serve.yaml."""

from collections.abc import Mapping, Sequence
from typing import Any

from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse

import serving


@serve.deployment
class Model:
    """Answers HTTP requests, and runs simultaneous requests as one batch.

    Args:
        path: path of an exported model's folder.
        task: name of the task, as in --task of predict.py. None = the first
            task that the model supports.
    """

    def __init__(self, path: str, task: str | None = None) -> None:
        self._task = serving.load(path).task(task)

    @serve.batch(max_batch_size=32, batch_wait_timeout_s=0.0)
    async def answer(self, requests: Sequence[dict[str, Any]]) -> list[Any]:
        """Returns the answer to each request, or {"error": message}."""
        return [
            {"error": str(found)} if isinstance(found, ValueError) else found
            for found in self._task.answer_each(requests)
        ]

    async def __call__(self, request: Request) -> JSONResponse:
        """Answers an HTTP request whose body is a JSON object."""
        try:
            asked = await request.json()
            if not isinstance(asked, dict):
                raise ValueError("the body must be a JSON object")
            self._task.check(asked)
        except (ValueError, TypeError) as error:
            return JSONResponse({"error": str(error)}, 400)
        found = await self.answer(asked)
        return JSONResponse(found, 400 if "error" in found else 200)


def create_app(args: Mapping[str, str]) -> serve.Application:
    """Builds the application that ray_serve.yaml deploys with its `args`.

    `args` contain "model", the folder of the model, and optionally "task".
    """
    return Model.bind(args["model"], args.get("task"))
