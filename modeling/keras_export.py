"""The shapes with which Keras exports a model, on each of its backends.

`BaseModel.export` exports a model by these functions.
"""

import functools
from collections.abc import Callable, Mapping

import keras

from modeling.keras_fit import KerasFitModel
from modeling.tensors import Outputs, Tensor

# The axes of a feature, by its rank. Axes of one name have one size.
_AXES_OF_RANK = {2: ("batch", "length"), 3: ("batch", "choices", "length")}
# The axes of `masked_lm_positions`.
_AXES_OF_POSITIONS = ("batch", "positions")
# {backend of Keras: formats of its exports}. tf2onnx writes a file of the
# network that does not run, and OpenVINO loses the names of the network's
# inputs.
_FORMATS_OF_BACKEND = {
    "tensorflow": ("tf_saved_model", "litert"),
    "jax": ("tf_saved_model",),
    "torch": ("torch",),
}


def create_signature(
    ranks: Mapping[str, int],
) -> list[dict[str, keras.InputSpec]]:
    """Returns the signature of int32 features of any batch size and length.

    `ranks` is {name of a feature: its rank}.
    """
    return [
        {
            name: keras.InputSpec("int32", (None,) * rank, name=name)
            for name, rank in ranks.items()
        }
    ]


def create_shape_options(
    model: KerasFitModel, format: str
) -> dict[str, object]:
    """Returns the options with which a format keeps all sizes variable.

    Raises:
        ValueError: the format does not work on Keras's backend.
    """
    backend = keras.backend.backend()
    formats = _FORMATS_OF_BACKEND[backend]
    if format not in formats:
        raise ValueError(
            f"Keras on {backend} exports this model as {' or '.join(formats)}. "
            f"Received: format={format!r}. On TensorFlow, serving.export "
            "writes SavedModel, LiteRT and ONNX"
        )
    if backend == "torch":
        return _create_torch_options(model.feature_ranks)
    if backend == "jax":
        num_positions = model.config.max_position_embeddings
        return _create_jax_options(model.feature_ranks, num_positions)
    return {}


def _create_torch_options(ranks: Mapping[str, int]) -> dict[str, object]:
    # Other backends run without torch.
    import torch

    auto = torch.export.Dim.AUTO
    axes = {
        name: dict.fromkeys(range(rank), auto) for name, rank in ranks.items()
    }
    return {"dynamic_shapes": [(axes,)]}


def _create_jax_options(
    ranks: Mapping[str, int], num_positions: int
) -> dict[str, object]:
    shapes = {
        name: f"({', '.join(_name_axes(name, rank))})"
        for name, rank in ranks.items()
    }
    jax_options = {
        "polymorphic_shapes": [shapes],
        "polymorphic_constraints": [f"length <= {num_positions}"],
        # The constraint does not reach the graph of the gradients.
        "with_gradient": False,
    }
    return {"jax2tf_kwargs": jax_options}


def _name_axes(name: str, rank: int) -> tuple[str, ...]:
    return (
        _AXES_OF_POSITIONS
        if name == "masked_lm_positions"
        else _AXES_OF_RANK[rank]
    )


def to_functional_model(model: KerasFitModel) -> keras.Model:
    """Returns a functional model whose outputs are {name: tensor}.

    An exported graph has no lists: `NAME` becomes `NAME_0`, `NAME_1`.
    """
    inputs = {
        name: keras.Input((None,) * (rank - 1), dtype="int32", name=name)
        for name, rank in model.feature_ranks.items()
    }
    named: dict[str, Tensor] = {}
    for name, value in model(inputs).items():
        if isinstance(value, list):
            for index, tensor in enumerate(value):
                named[f"{name}_{index}"] = tensor
        else:
            named[name] = value
    return keras.Model(inputs, named, name=model.name)


def infer_output_spec(
    infer: Callable[..., Outputs],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> Outputs:
    """Returns the shapes and dtypes of the outputs of symbolic inputs.

    Infers the shapes for two sizes of each axis whose size is unknown. Keras
    would try sizes above the number of positions on torch, and none on JAX.

    Args:
        infer: `compute_output_spec` of Keras.
        args: positional arguments of the call, which contain KerasTensors.
        kwargs: named arguments of the call.
    """
    specs = []
    for size in (2, 3):
        with_size = functools.partial(_with_axis_size, size=size)
        positional, named = keras.tree.map_structure(with_size, (args, kwargs))
        specs.append(infer(*positional, **named))
    merged: Outputs = keras.tree.map_structure(_merge_axes, *specs)
    return merged


def _with_axis_size(tensor: object, size: int) -> object:
    """Returns a symbolic tensor whose unknown axes have a size."""
    if not isinstance(tensor, keras.KerasTensor):
        return tensor
    shape = [size if axis is None else axis for axis in tensor.shape]
    return keras.KerasTensor(shape, tensor.dtype)


def _merge_axes(
    first: keras.KerasTensor, second: keras.KerasTensor
) -> keras.KerasTensor:
    """Returns a symbolic tensor whose axes are unknown where two differ."""
    shape = [
        axis if axis == other_axis else None
        for axis, other_axis in zip(first.shape, second.shape, strict=True)
    ]
    return keras.KerasTensor(shape, first.dtype)
