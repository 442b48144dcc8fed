"""Names of inputs and outputs in ONNX files, which are Hugging Face's names.

onnx.py and the writer of ONNX files use them. This module does not import ONNX
Runtime.
"""

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
