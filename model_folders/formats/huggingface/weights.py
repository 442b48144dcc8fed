"""Opens files of tensors of Hugging Face: model.safetensors, pytorch_model.bin.

The tensors are named differently than in Google's checkpoints, and dense
kernels are transposed. torch reads `pytorch_model.bin`, the format of older
models.
"""

import functools
import importlib.util
from collections.abc import Mapping

import safetensors

from model_folders.formats.shards import missing_entry_error, read_shard_paths
from model_folders.formats.weight_entries import WeightEntry


def open_huggingface_entries(path: str) -> dict[str, WeightEntry]:
    """Returns {name: WeightEntry} of the tensors in one file, or in several.

    Args:
        path: path of a file NAME.safetensors or NAME.bin, or of its index,
            NAME.safetensors.index.json or NAME.bin.index.json.

    Raises:
        OSError: a file cannot be read.
        ValueError: the index is malformed, a file contains other objects than
            named tensors, or torch is needed and not installed.
    """
    if path.endswith(".index.json"):
        return _open_shards(path)
    if path.endswith(".bin") and not importlib.util.find_spec("torch"):
        raise ValueError(
            f"{path} can only be read with torch. Run `pip install torch`"
        )
    open_file = _open_pickle if path.endswith(".bin") else _open_safetensors
    try:
        return open_file(path)
    except _OtherContentsError as error:
        raise ValueError(
            f"{path} must contain the state_dict of a BERT, names and tensors. "
            f"It contains {error}. Save the state_dict alone"
        ) from error
    except Exception as error:
        # torch and safetensors raise many types of errors for damaged files.
        reason = " ".join(str(error).split())
        raise OSError(
            f"{path} cannot be read: {reason}; download it again"
        ) from error


def _open_shards(path: str) -> dict[str, WeightEntry]:
    """Returns {name: WeightEntry} of the tensors in all files of an index.

    Each tensor comes from the file that the index names. Another file may
    contain an older tensor with the same name.
    """
    ending = ".bin" if path.endswith(".bin.index.json") else ".safetensors"
    paths = read_shard_paths(path, ending)
    files = {file: open_huggingface_entries(file) for file in {*paths.values()}}
    for name, file in paths.items():
        if name not in files[file]:
            raise missing_entry_error(file, name, path)
    return {name: files[file][name] for name, file in paths.items()}


def _open_safetensors(path: str) -> dict[str, WeightEntry]:
    """Returns {name: WeightEntry} of the tensors in a file of safetensors."""
    file = safetensors.safe_open(path, framework="np")
    tensors = {}
    # The file is no dict, and cannot be iterated itself.
    for name in file.keys():  # noqa: SIM118
        entry = file.get_slice(name)
        tensors[name] = WeightEntry(
            shape=entry.get_shape(),
            dtype=entry.get_dtype(),
            read=functools.partial(file.get_tensor, name),
        )
    return tensors


class _OtherContentsError(Exception):
    """A file of torch contains something else than named tensors."""


def _open_pickle(path: str) -> dict[str, WeightEntry]:
    """Returns {name: WeightEntry} of the tensors in a pytorch_model.bin.

    Raises:
        _OtherContentsError: the file contains anything else.
    """
    # An optional package, which few checkpoints need.
    import torch

    # With `weights_only`, torch runs no code of a pickle.
    state = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(state, Mapping):
        raise _OtherContentsError(f"a {type(state).__name__}")
    for name, value in state.items():
        if not (isinstance(name, str) and isinstance(value, torch.Tensor)):
            raise _OtherContentsError(f"{name!r}: a {type(value).__name__}")
    return {
        name: WeightEntry(
            value.shape,
            str(value.dtype).removeprefix("torch."),
            # NumPy lacks bfloat16.
            value.detach().float().numpy,
        )
        for name, value in state.items()
    }
