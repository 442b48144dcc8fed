"""Runs SavedModels with TensorFlow.

A SavedModel is a program, which may read and write the user's files. So the
names of its operations are checked before the SavedModel is loaded. This
project's exports use only the operations in `ALLOWED`, which only compute.
"""

import copy
import functools
import os
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import saved_model_pb2

from files import patterns
from serving import engines

FILE = engines.RUNTIMES["saved_model"].file
# Operations that exports of any version of this project may contain.
# tests/serving/test_operations.py compares this list with the exports.
ALLOWED = frozenset(
    """
    Abs AddN AddV2 All Any ArgMax AsString Assert BatchMatMulV2 BatchMatMulV3
    BiasAdd Bitcast BitwiseAnd Cast ConcatV2 Const Cumsum DenseBincount
    DisableCopyOnRead DynamicPartition Equal Erf ExpandDims Fill FloorDiv
    FloorMod GatherNd GatherV2 Greater GreaterEqual Identity IdentityN If Less
    LessEqual Log LogicalAnd LogicalNot LogicalOr LowerBound MatMul Max Maximum
    Mean Min Minimum Mul Neg NoOp NotEqual OneHot OnesLike Pack Pad PadV2
    PartitionedCall Placeholder Pow Prod RaggedGather RaggedRange
    RaggedTensorFromVariant RaggedTensorToTensor RaggedTensorToVariant Range
    ReadVariableOp RealDiv ReduceJoin Relu Reshape ReverseV2 RightShift Round
    Rsqrt ScatterNd Select SelectV2 Shape Sigmoid Size Softmax Softplus Split
    Square SquaredDifference Squeeze StatefulPartitionedCall StatelessIf
    StatelessWhile StaticRegexFullMatch StaticRegexReplace StopGradient
    StridedSlice StringJoin StringLength StringSplitV2 Sub Substr Sum Tanh
    TensorListConcatV2 TensorListFromTensor TensorListGetItem TensorListReserve
    TensorListSetItem TensorListStack TensorScatterUpdate Tile TopKV2 Transpose
    UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode UnicodeTranscode Unique
    Unpack UnsortedSegmentMin UnsortedSegmentSum UpperBound VarHandleOp Where
    While ZerosLike
    """.split()
)
# Operations of the functions that save and restore weights. TensorFlow Serving
# calls only the restore function. Python calls neither function.
_SAVER = {
    "AssignVariableOp",
    *("MergeV2Checkpoints", "RestoreV2", "SaveV2", "ShardedFilename"),
}


class SavedModel:
    """Implements Engine with TensorFlow, and can call any signature.

    Args:
        path: folder of a SavedModel.
        num_threads: number of threads per operation, for all models of the
            process. None lets TensorFlow choose.
        allow_any_operation: True to load a model whose operations may do more
            than compute, such as read files. See `check_operations`.

    Attributes:
        signatures: {name of a signature: function}.
        definitions: {name of a signature: SignatureDef}.

    Raises:
        OSError: the SavedModel cannot be loaded.
        ValueError: the SavedModel uses an operation that is not allowed, or
            TensorFlow has started with another number of threads.
    """

    name = "saved_model"
    is_row_wise = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        num_threads: int | None = None,
        allow_any_operation: bool = False,
    ) -> None:
        self.path = os.fspath(path)
        if num_threads:
            try:
                tf.config.threading.set_intra_op_parallelism_threads(
                    num_threads
                )
            except RuntimeError:
                raise ValueError(
                    f"num_threads={num_threads}: TensorFlow already runs in "
                    "this process; load this model before TensorFlow is used"
                ) from None
        try:
            saved, used = find_operations(Path(path, FILE).read_bytes())
        except DecodeError as error:
            raise engines.damaged(self.path, error) from error
        check_operations(used, self.path, allow_any_operation)
        with patterns.literal_name(self.path) as name:
            try:
                # Keep a reference to the model, because the model owns the
                # variables.
                self._loaded = tf.saved_model.load(name)
            except Exception as error:
                # TensorFlow may raise any exception for a damaged file.
                reason = str(error).replace(name, self.path)
                raise engines.damaged(self.path, reason) from error
        self.signatures = self._loaded.signatures
        # Copy the definitions. References to `saved` would keep the complete
        # file in memory.
        self.definitions = {
            name: copy.deepcopy(definition)
            for name, definition in saved.meta_graphs[0].signature_def.items()
            if not name.startswith("__")
        }

    @functools.cached_property
    def inputs(self) -> dict[str, tuple[int | None, ...]]:
        """Shapes of the inputs of `serve`, None for a variable size."""
        specs = self.signatures["serve"].structured_input_signature[1]
        return {name: tuple(spec.shape) for name, spec in specs.items()}

    def run(self, features: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Calls the signature `serve`. Thread-safe."""
        return self.run_signature("serve", features)

    def run_signature(
        self, signature: str, inputs: Mapping[str, Any]
    ) -> dict[str, np.ndarray]:
        """Calls a signature. Returns its outputs, with strings as bytes.

        Args:
            signature: name of the signature.
            inputs: {name: array, or list of strings}.

        Raises:
            ValueError: the signature fails on the inputs.
        """
        function = self.signatures[signature]
        specs = function.structured_input_signature[1]
        try:
            outputs = function(
                **{k: tf.constant(v, specs[k].dtype) for k, v in inputs.items()}
            )
            return {name: value.numpy() for name, value in outputs.items()}
        except (tf.errors.OpError, MemoryError) as error:
            # Omit TensorFlow's traceback: the usual cause is a lack of memory.
            raise engines.failure(error) from None

    @functools.cached_property
    def precision(self) -> str:
        """Numeric type of the matrix products, such as "float32"."""
        if "serve" not in self.signatures:
            return "float32"
        graph = self.signatures["serve"].graph.as_graph_def()
        kinds = {
            node.attr["T"].type
            for function in graph.library.function
            for node in function.node_def
            if node.op == "MatMul"
        }
        for kind in (tf.bfloat16, tf.float16):
            if kind.as_datatype_enum in kinds:
                return kind.name
        return "float32"


def finds_gpu() -> bool:
    """Returns whether TensorFlow can use a GPU of this machine."""
    return bool(tf.config.list_physical_devices("GPU"))


def find_operations(data: bytes) -> tuple[saved_model_pb2.SavedModel, set[str]]:
    """Returns a SavedModel and the names of the operations that it uses.

    Omits operations in _SAVER that are used only by the functions that save and
    restore weights.

    Args:
        data: contents of saved_model.pb.

    Raises:
        DecodeError: the file is damaged.
    """
    saved = saved_model_pb2.SavedModel.FromString(data)
    used: set[str] = set()
    for meta_graph in saved.meta_graphs:
        graph, saver = meta_graph.graph_def, meta_graph.saver_def
        ends = {saver.save_tensor_name.split(":")[0], saver.restore_op_name}
        savers = {
            node.attr["f"].func.name for node in graph.node if node.name in ends
        }
        # If there is no object graph, or if there are several graphs, the
        # functions that save weights may become signatures, which requests can
        # run. So omit no operations.
        if len(saved.meta_graphs) > 1 or not meta_graph.HasField(
            "object_graph_def"
        ):
            savers.clear()
        used |= {node.op for node in graph.node}
        for function in graph.library.function:
            name = function.signature.name
            found = {node.op for node in function.node_def}
            # A signature that calls the save function could write any file. So
            # omit this function's operations only if the function's name occurs
            # exactly twice in the SavedModel: in the function's definition, and
            # in the graph's node that saves or restores the weights.
            is_saver = name in savers and data.count(name.encode()) == 2
            used |= found - _SAVER if is_saver else found
    return saved, used


def check_operations(
    used: Set[str], path: str, allow_any_operation: bool
) -> None:
    """Checks that a SavedModel uses only operations in ALLOWED.

    Args:
        used: names of the operations that the SavedModel uses.
        path: the SavedModel's folder, for the error message.
        allow_any_operation: True to also allow operations not in ALLOWED.

    Raises:
        ValueError: an operation is not allowed.
        OSError: an earlier version of this project exported the model in int8.
            The int8 operations of that version compute wrong results on CPUs
            without VNNI.
    """
    # The names of all these int8 operations contain QuantizedMatMul.
    if any("QuantizedMatMul" in name for name in used):
        raise OSError(
            f"{path} uses int8 operations whose results are wrong on some "
            "CPUs; export the model again with --quantize=int8"
        )
    unknown = sorted(used - ALLOWED)
    if unknown and not allow_any_operation:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise ValueError(
            f"{path} uses operations that this project's exports do not: "
            f"{', '.join(unknown[:3])}{more}. They may read and write your "
            "files; if you trust the model's author, set --allow_any_operation "
            "(allow_any_operation=True in Python)"
        )
