"""Checks the operations of a SavedModel before it is loaded.

A SavedModel is a program: it may read and write any file of its user. An
operation of `ALLOWED` only computes, and exports use no others.
"""

from collections.abc import Set

from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

# What exports use, earlier ones included; tests/serving/test_operations.py
# compares the list.
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
# In the functions that save and restore weights. TensorFlow Serving calls the
# second one; in Python neither is called.
_SAVER = {
    "AssignVariableOp",
    *("MergeV2Checkpoints", "RestoreV2", "SaveV2", "ShardedFilename"),
}


def find(data: bytes) -> tuple[SavedModel, set[str]]:
    """Reads a SavedModel and its operations, but for its saver's.

    Args:
        data: contents of saved_model.pb.

    Raises:
        DecodeError: it is damaged.
    """
    saved = SavedModel.FromString(data)
    used: set[str] = set()
    for meta_graph in saved.meta_graphs:
        graph, saver = meta_graph.graph_def, meta_graph.saver_def
        ends = {saver.save_tensor_name.split(":")[0], saver.restore_op_name}
        savers = {
            node.attr["f"].func.name for node in graph.node if node.name in ends
        }
        # Without objects, TensorFlow makes signatures of the nodes themselves.
        if len(saved.meta_graphs) > 1 or not meta_graph.HasField(
            "object_graph_def"
        ):
            savers.clear()
        used |= {node.op for node in graph.node}
        for function in graph.library.function:
            name = function.signature.name
            found = {node.op for node in function.node_def}
            # A signature could write any file if it called the saver, so it is
            # named twice in all: where it is defined and by its node.
            is_saver = name in savers and data.count(name.encode()) == 2
            used |= found - _SAVER if is_saver else found
    return saved, used


def check(used: Set[str], path: str, allow_any_operation: bool) -> None:
    """Checks that a SavedModel uses only operations that exports use.

    Args:
        used: names of operations.
        path: the SavedModel's folder, for the message.
        allow_any_operation: whether to let other operations pass.

    Raises:
        ValueError: no export uses one.
        OSError: one is for int8.
    """
    # In the names of all such operations.
    if any("QuantizedMatMul" in name for name in used):
        raise OSError(
            f"{path} computes in int8 by operations that are wrong on some "
            "CPUs; export the model again: --quantize=int8 writes LiteRT"
        )
    unknown = sorted(used - ALLOWED)
    if unknown and not allow_any_operation:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise ValueError(
            f"{path} uses operations that this project's exports do not: "
            f"{', '.join(unknown[:3])}{more}. They may read and write your "
            "files; if you trust whoever made it, set --allow_any_operation "
            "(allow_any_operation=True in Python)"
        )
