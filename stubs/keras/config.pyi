"""Types of Keras's global settings."""

from keras import DTypePolicy

def set_dtype_policy(policy: str | DTypePolicy) -> None: ...
