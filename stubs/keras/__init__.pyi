"""Types of Keras, which ships none: `keras.ops`. All other names are Any."""

from typing import Any

from keras import ops as ops

def __getattr__(name: str) -> Any: ...  # noqa: ANN401
