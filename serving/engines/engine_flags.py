"""Defines the flags that choose and configure the runtime of a model."""

import dataclasses

from command_line.flags import flag
from serving.engines.runtimes import RUNTIME_OF_FORMAT, ExportFormat


@dataclasses.dataclass(frozen=True, kw_only=True)
class EngineFlags:
    """Flags of predict.py and serve.py that choose and configure a runtime."""

    engine: ExportFormat | None = flag(
        None,
        "Runtime that runs the model. The default is the first of these "
        "runtimes that is installed and whose format the model's folder "
        "contains. But onnx and saved_model come before the others if they can "
        "use an NVIDIA GPU.",
        choices=[*RUNTIME_OF_FORMAT],
    )
    num_threads: int | None = flag(
        None, "Number of threads. The default is one per CPU.", at_least=1
    )
