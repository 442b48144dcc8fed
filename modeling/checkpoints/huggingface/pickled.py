"""Reads `pytorch_model.bin`, the format of older models, with torch."""

from typing import NamedTuple

import numpy as np

from files.paths import StrPath


class _Slice(NamedTuple):
    """A tensor with the methods of safetensors' `PySafeSlice`."""

    value: np.ndarray

    def get_shape(self) -> list[int]:
        """Returns the tensor's shape."""
        return list(self.value.shape)

    def get_dtype(self) -> str:
        """Returns the name of the tensor's type."""
        return self.value.dtype.name


class PickledTensors:
    """The tensors of a `pytorch_model.bin`, with the methods of `safe_open`.

    The file is a pickle, which could run any code. With `weights_only`, torch
    creates only tensors and plain values.

    Args:
        path: path of a file that `torch.save` wrote.

    Raises:
        OSError: the file is damaged, or contains other objects.
        ValueError: torch is not installed.
    """

    def __init__(self, path: StrPath) -> None:
        try:
            # An optional package, which few checkpoints need.
            import torch
        except ImportError:
            raise ValueError(
                f"{path} can only be read with torch. Run `pip install torch`, "
                "or convert the weights to model.safetensors"
            ) from None
        try:
            found = torch.load(path, map_location="cpu", weights_only=True)
            self._arrays = {
                # NumPy lacks bfloat16.
                name: (x.float() if x.dtype == torch.bfloat16 else x)
                .detach()
                .numpy()
                for name, x in found.items()
            }
        except Exception as error:
            # torch raises exceptions of many types for a damaged file.
            raise OSError(str(error).partition("\n")[0]) from error

    def keys(self) -> list[str]:
        """Returns the names of the tensors."""
        return [*self._arrays]

    def get_slice(self, name: str) -> _Slice:
        """Returns a tensor's shape and type."""
        return _Slice(self._arrays[name])

    def get_tensor(self, name: str) -> np.ndarray:
        """Returns a tensor's values."""
        return self._arrays[name]
