"""Types of the functions of `tf.strings` that this project calls."""

from collections.abc import Sequence

from tensorflow._tensors import RaggedTensor, Tensor, Value

def join(inputs: Sequence[Value], separator: str = "") -> Tensor: ...
def regex_replace(
    input: Value, pattern: str, rewrite: str, replace_global: bool = True
) -> Tensor: ...
def split(input: Value, sep: str | None = None) -> RaggedTensor: ...
def substr(
    input: Value, pos: Value, len: Value, unit: str = "BYTE"
) -> Tensor: ...
def unicode_transcode(
    input: Value,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
) -> Tensor: ...
