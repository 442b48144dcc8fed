"""Opens the tensors of transformers, and converts their names.

modeling/checkpoints/huggingface_checkpoint.py loads them into models. The files
are model.safetensors and pytorch_model.bin, the format of older models, which
torch reads. Their tensors have other names than in Google's checkpoints, and
dense kernels are transposed.
"""

import functools
import importlib.util
import os
import re
from collections.abc import Mapping

import safetensors

from files.paths import StrPath
from model_folders.formats.huggingface_config import HUGGINGFACE_WEIGHTS
from model_folders.formats.shards import missing_entry_error, read_shard_paths
from model_folders.formats.weight_entries import WeightEntry

# Also matches variants such as model.fp16.safetensors.
_WEIGHTS_PATH = re.compile(
    r"\.safetensors(?:\.index\.json)?$"
    r"|(?:^|[/\\])pytorch_model[^/\\]*\.bin(?:\.index\.json)?$"
)
# {Google's name: Hugging Face's name} of the weights that no general rule of
# `google_to_huggingface` converts.
_HUGGINGFACE_NAME_OF_HEAD = {
    "cls/predictions/output_bias": "cls.predictions.bias",
    "cls/seq_relationship/output_weights": "cls.seq_relationship.weight",
    "cls/seq_relationship/output_bias": "cls.seq_relationship.bias",
    "cls/squad/output_weights": "qa_outputs.weight",
    "cls/squad/output_bias": "qa_outputs.bias",
    "output_weights": "classifier.weight",
    "output_bias": "classifier.bias",
}
_GOOGLE_NAME_OF_HEAD = {
    stored: name for name, stored in _HUGGINGFACE_NAME_OF_HEAD.items()
}


def find_huggingface(path: StrPath) -> str | None:
    """Returns the path of a model's weights, or of the index of its weights.

    `path` is the path of this file, which is called NAME.safetensors or
    pytorch_model.bin, or of the folder that contains it. Returns None for other
    paths.

    Raises:
        ValueError: the folder contains an adapter.
    """
    if _WEIGHTS_PATH.search(str(path)):
        return str(path)
    files = [os.path.join(path, name) for name in HUGGINGFACE_WEIGHTS]
    first = next(filter(os.path.isfile, files), None)
    if first and os.path.isfile(os.path.join(path, "adapter_config.json")):
        raise ValueError(
            f"{path} contains an adapter, which changes the model's weights. "
            "Merge it into the model, and save the model again"
        )
    return first


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


def google_to_huggingface(name: str) -> str:
    """Returns the name in Hugging Face's files of a weight with this name."""
    if name in _HUGGINGFACE_NAME_OF_HEAD:
        return _HUGGINGFACE_NAME_OF_HEAD[name]
    name = re.sub(r"/layer_(\d+)/", r"/layer/\1/", name)
    name = re.sub(r"/(?:kernel|gamma)$", "/weight", name)
    name = re.sub(r"/beta$", "/bias", name)
    name = re.sub(r"_embeddings$", "_embeddings/weight", name)
    return name.replace("/", ".")


def huggingface_to_google(name: str) -> str:
    """Inverts `google_to_huggingface`. Returns unknown names unchanged."""
    if name in _GOOGLE_NAME_OF_HEAD:
        return _GOOGLE_NAME_OF_HEAD[name]
    if not name.startswith(("bert.", "cls.")):
        return name
    google = name.replace(".", "/").replace("/layer/", "/layer_")
    google = re.sub(r"/LayerNorm/weight$", "/LayerNorm/gamma", google)
    google = re.sub(r"/LayerNorm/bias$", "/LayerNorm/beta", google)
    google = re.sub(r"_embeddings/weight$", "_embeddings", google)
    google = re.sub(r"/weight$", "/kernel", google)
    return google if google_to_huggingface(google) == name else name


def normalized_name(name: str) -> str:
    """Returns the name that a new file with a head has for a weight.

    Models that were saved without a head lack the prefix `bert.`. Old files
    call the weights of a layer normalization gamma and beta.
    """
    name = name.replace("LayerNorm.gamma", "LayerNorm.weight")
    name = name.replace("LayerNorm.beta", "LayerNorm.bias")
    if re.match(r"(?:embeddings|encoder|pooler)\.", name):
        return f"bert.{name}"
    return name
