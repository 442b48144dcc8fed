"""Lists the runtimes, the files that they load, and the names of inputs."""

from typing import Literal, NamedTuple, TypeAlias, get_args

ExportFormat: TypeAlias = Literal["saved_model", "litert", "onnx"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)


class Runtime(NamedTuple):
    """A runtime, and the format of the models that the runtime loads.

    Attributes:
        file: path of the model inside the folder of an export.
        package: Python module of the runtime.
        engine_class: class in the module of serving/engines/ that is named
            like the key in RUNTIME_OF_FORMAT.
    """

    file: str
    package: str
    engine_class: str


# {format of an export: its runtime}. On a CPU, `load_engine` chooses the first
# runtime that is installed and whose file the export contains.
RUNTIME_OF_FORMAT: dict[ExportFormat, Runtime] = {
    "litert": Runtime("model.tflite", "ai_edge_litert", "LiteRt"),
    "onnx": Runtime("onnx/model.onnx", "onnxruntime", "OnnxRuntime"),
    "saved_model": Runtime("saved_model.pb", "tensorflow", "SavedModel"),
}
NETWORK_FILES = tuple(runtime.file for runtime in RUNTIME_OF_FORMAT.values())

# {name in this project: name in Hugging Face's models and in ONNX files}.
ONNX_NAME_OF_INPUT = {
    "input_ids": "input_ids",
    "input_mask": "attention_mask",
    "segment_ids": "token_type_ids",
}
