"""Defines an export of --model, and loads it."""

import dataclasses
import os

from serving.engines import EngineFlags
from serving.http.served_model import ServedModel
from serving.text_model import TextModel


@dataclasses.dataclass(frozen=True)
class ExportToServe:
    """The folder of an export, from which the server loads a ServedModel.

    Attributes:
        folder: folder of the export.
        engine_flags: flags that choose and configure the runtime.
    """

    folder: str
    engine_flags: EngineFlags

    @property
    def version(self) -> str:
        """Number of the export, "1" if its folder has no number."""
        name = os.path.basename(os.path.normpath(self.folder))
        return name if name.isdecimal() else "1"

    def load(self) -> ServedModel:
        """Loads and warms up the model.

        Raises:
            OSError: as in `serving.load`.
            ValueError: as in `serving.load`, or the model accepts no text.
        """
        flags = self.engine_flags
        text_model = TextModel(self.folder, flags.num_threads, flags.engine)
        text_model.warm_up()
        return ServedModel(text_model)
