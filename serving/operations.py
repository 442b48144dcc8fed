"""Checks the operations of a SavedModel before it is loaded.

A SavedModel is a program, which may read and write any file of its user. The
operations in `ALLOWED` only compute. This project's exports use no others.
"""

from collections.abc import Set

from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

# Operations in the exports of all versions of this project.
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
    ReadVariableOp RealDiv Relu Reshape ReverseV2 RightShift Round Rsqrt
    ScatterNd Select SelectV2 Shape Sigmoid Size Softmax Softplus Split Square
    SquaredDifference Squeeze StatefulPartitionedCall StatelessIf StatelessWhile
    StaticRegexFullMatch StaticRegexReplace StopGradient StridedSlice StringJoin
    StringLength StringSplitV2 Sub Substr Sum Tanh TensorListConcatV2
    TensorListFromTensor TensorListGetItem TensorListReserve TensorListSetItem
    TensorListStack TensorScatterUpdate Tile TopKV2 Transpose UnicodeDecode
    UnicodeDecodeWithOffsets UnicodeEncode UnicodeTranscode Unique Unpack
    UnsortedSegmentMin UnsortedSegmentSum UpperBound VarHandleOp Where While
    ZerosLike
    """.split()
)
# Operations of the functions that save and restore weights. TensorFlow Serving
# calls only the restore function. Python calls neither function.
_SAVER = {
    "AssignVariableOp",
    *("MergeV2Checkpoints", "RestoreV2", "SaveV2", "ShardedFilename"),
}


def find(data: bytes) -> tuple[SavedModel, set[str]]:
    """Returns a SavedModel and the names of the operations that it uses.

    The names omit operations in _SAVER that only the functions that save and
    restore weights use.

    Args:
        data: contents of saved_model.pb.

    Raises:
        DecodeError: the file is damaged.
    """
    saved = SavedModel.FromString(data)
    used: set[str] = set()
    for meta_graph in saved.meta_graphs:
        graph, saver = meta_graph.graph_def, meta_graph.saver_def
        ends = {saver.save_tensor_name.split(":")[0], saver.restore_op_name}
        savers = {
            node.attr["f"].func.name for node in graph.node if node.name in ends
        }
        # Without an object graph, or with several graphs, TensorFlow may run
        # the functions that save weights as signatures. Then omit no
        # operations.
        if len(saved.meta_graphs) > 1 or not meta_graph.HasField(
            "object_graph_def"
        ):
            savers.clear()
        used |= {node.op for node in graph.node}
        for function in graph.library.function:
            name = function.signature.name
            found = {node.op for node in function.node_def}
            # A signature that called the save function could write any file. So
            # the function is exempt only if the SavedModel names it nowhere but
            # in its definition and in its node.
            is_saver = name in savers and data.count(name.encode()) == 2
            used |= found - _SAVER if is_saver else found
    return saved, used


def check(used: Set[str], path: str, allow_any_operation: bool) -> None:
    """Checks that a SavedModel uses only operations in ALLOWED.

    Args:
        used: names of the operations that the SavedModel uses.
        path: the SavedModel's folder, for the error message.
        allow_any_operation: True to also allow operations not in ALLOWED.

    Raises:
        ValueError: an operation is not allowed.
        OSError: an earlier version of this project exported the model in int8.
            On CPUs without VNNI, the results of its operations are wrong.
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
