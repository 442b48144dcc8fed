"""Lists the formats of exports, their files and the packages that run them.

The argument and the flag `engine` choose one of these formats.
"""

from typing import Literal, TypeAlias, get_args

# Format of the network in an export, which an engine of the same name runs.
ExportFormat: TypeAlias = Literal["saved_model", "litert", "onnx"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
# {format: path of the network inside the folder of an export}. On a CPU,
# `load_engine` chooses the first of these formats that it can run.
FILE_OF_FORMAT: dict[ExportFormat, str] = {
    "litert": "model.tflite",
    "onnx": "onnx/model.onnx",
    "saved_model": "saved_model.pb",
}
# {format: Python package that runs the network}
PACKAGE_OF_FORMAT: dict[ExportFormat, str] = {
    "litert": "ai_edge_litert",
    "onnx": "onnxruntime",
    "saved_model": "tensorflow",
}
# In ONNX files, inputs and outputs have the names of Hugging Face's files:
# {name of an input in this project: its name in the file}
ONNX_NAME_OF_INPUT = {
    "input_ids": "input_ids",
    "input_mask": "attention_mask",
    "segment_ids": "token_type_ids",
}
# {name of an output in the file: its name in this project}
OWN_NAME_OF_OUTPUT = {
    "last_hidden_state": "sequence_output",
    "pooler_output": "pooled_output",
}
