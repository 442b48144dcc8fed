"""The flags of every script."""

import dataclasses

from options import fields
from options.config import Config


@dataclasses.dataclass(frozen=True, kw_only=True)
class CommonConfig(Config):
    """Flags that every script has."""

    debug: bool = fields.option(
        False, "Print the traceback of any error, and TensorFlow's logs."
    )
    verbose: bool = fields.option(
        False,
        "Also log the first examples, and every variable that is loaded.",
    )
