"""Lists the runtimes, the files that they load, and the names of inputs."""

from typing import Literal, NamedTuple, TypeAlias

# A runtime. It is also the format of the models that the runtime loads.
EngineName: TypeAlias = Literal["litert", "onnx", "saved_model"]


class Runtime(NamedTuple):
    """A runtime, and the format of the models that the runtime loads.

    Attributes:
        file: path of the model inside the folder of an export.
        package: Python module of the runtime.
        engine: name of the Engine class in serving/engines/NAME.py, where NAME
            is the runtime's key in RUNTIMES.
    """

    file: str
    package: str
    engine: str


# {name: Runtime}. On a CPU, `open_engine` chooses the first runtime that is
# installed and whose file the export contains.
RUNTIMES: dict[EngineName, Runtime] = {
    "litert": Runtime("model.tflite", "ai_edge_litert", "LiteRt"),
    "onnx": Runtime("onnx/model.onnx", "onnxruntime", "OnnxRuntime"),
    "saved_model": Runtime("saved_model.pb", "tensorflow", "SavedModel"),
}
RUNTIME_FILES = tuple(runtime.file for runtime in RUNTIMES.values())

# {name in this project: name in Hugging Face's models and in ONNX files}.
ONNX_NAME_OF_INPUT = {
    "input_ids": "input_ids",
    "input_mask": "attention_mask",
    "segment_ids": "token_type_ids",
}
