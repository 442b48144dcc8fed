"""Types of Keras's activations."""

from modeling.tensors import Tensor

def gelu(x: Tensor, approximate: bool = False) -> Tensor: ...
