"""Measures for how long connections have not changed their state."""

import time
from collections.abc import Mapping

from serving.http.uvicorn_server import Connection


class Stopwatch:
    """Measures for how long connections have not changed their state.

    A state is any value, which is compared by ==.
    """

    def __init__(self) -> None:
        # {connection: (its state, time at which this state was first seen)}
        self._entries: dict[Connection, tuple[object, float]] = {}

    def measure(
        self, states: Mapping[Connection, object]
    ) -> dict[Connection, float]:
        """Returns {connection: seconds for which it has been in its state}.

        Connections that `states` lacks are forgotten.
        """
        now = time.monotonic()
        entries: dict[Connection, tuple[object, float]] = {}
        for connection, state in states.items():
            last_state, since = self._entries.get(connection, (state, now))
            entries[connection] = state, since if state == last_state else now
        self._entries = entries
        return {
            connection: now - since
            for connection, (_, since) in entries.items()
        }
