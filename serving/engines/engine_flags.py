"""The flags of predict.py and serve.py that choose an engine."""

import dataclasses

from options.fields import option
from serving.engines.export_formats import FILE_OF_FORMAT, ExportFormat


@dataclasses.dataclass(frozen=True, kw_only=True)
class EngineFlags:
    """Flags of predict.py and serve.py that choose and configure an engine."""

    engine: ExportFormat | None = option(
        None,
        "Runtime that runs the model. The default is the first of these "
        "runtimes that is installed and whose format the model's folder "
        "contains. But onnx and saved_model come before the others if they can "
        "use an NVIDIA GPU.",
        choices=[*FILE_OF_FORMAT],
    )
    num_threads: int | None = option(
        None, "Number of threads. The default is one per CPU.", at_least=1
    )
