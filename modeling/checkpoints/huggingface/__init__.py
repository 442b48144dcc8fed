"""Reads and writes BERT as Hugging Face's transformers stores it."""

from modeling.checkpoints.huggingface.config import (
    config_from_huggingface,
    config_to_huggingface,
    load_config,
    read_architectures,
)
from modeling.checkpoints.huggingface.tokenizer import read_do_lower_case
from modeling.checkpoints.huggingface.weights import (
    find_huggingface,
    huggingface_name,
    is_huggingface,
    load_huggingface,
    read_huggingface_shapes,
    save_huggingface,
)

__all__ = [
    "config_from_huggingface",
    "config_to_huggingface",
    "find_huggingface",
    "huggingface_name",
    "is_huggingface",
    "load_config",
    "load_huggingface",
    "read_architectures",
    "read_do_lower_case",
    "read_huggingface_shapes",
    "save_huggingface",
]
