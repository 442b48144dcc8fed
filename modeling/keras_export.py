"""Tells Keras the shapes with which it exports a model of this package."""

from collections.abc import Mapping

import keras

from modeling.keras_fit import KerasFitModel
from modeling.tensors import Tensor

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

    Args:
        ranks: {name: rank} of the features.
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

    Args:
        model: the model to export.
        format: name of the format.

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
    ranks = model.feature_ranks
    if backend == "torch":
        # Other backends run without torch.
        import torch

        auto = torch.export.Dim.AUTO
        axes = {
            name: dict.fromkeys(range(rank), auto)
            for name, rank in ranks.items()
        }
        return {"dynamic_shapes": [(axes,)]}
    if backend == "jax":
        shapes = {
            name: f"({', '.join(_name_axes(name, rank))})"
            for name, rank in ranks.items()
        }
        num_positions = model.config.max_position_embeddings
        jax_options = {
            "polymorphic_shapes": [shapes],
            "polymorphic_constraints": [f"length <= {num_positions}"],
            # The constraint does not reach the graph of the gradients.
            "with_gradient": False,
        }
        return {"jax2tf_kwargs": jax_options}
    return {}


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
