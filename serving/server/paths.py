"""The paths of TensorFlow Serving's REST protocol."""

import re
from re import Match

from serving.server.errors import RestError

_MODEL = (
    r"(?i:/v1/models)(?:/(?P<name>[^/:]+))?"
    r"(?:/(?i:versions)/(?P<version>\d+)|/(?i:labels)/(?P<label>[^/:]+))?"
)
ASKED = re.compile(_MODEL + r":(?P<method>(?i:classify|regress|predict))")
LOOKED_AT = re.compile(_MODEL + r"(?P<metadata>/(?i:metadata))?")


def parse(found: Match) -> tuple[str, int | None]:
    """Returns the name and the version in a path.

    Raises:
        RestError: the name is missing, or the version is invalid.
    """
    if not found["name"]:
        raise RestError(400, "Missing model name in request.")
    if found["label"]:
        raise RestError(
            400, f"Unrecognized servable version label: {found['label']}"
        )
    if not found["version"]:
        return found["name"], None
    if len(found["version"]) > 18:
        raise RestError(
            400, f"Failed to convert version: {found['version']} to numeric."
        )
    return found["name"], int(found["version"])
