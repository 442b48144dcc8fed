"""Lists the rows of model_benchmark.py, which describes them."""

from typing import NamedTuple


class Row(NamedTuple):
    """Work to time, once in each precision that the first contestant supports.

    Attributes:
        name: name of the row, without the precision.
        work: name of the function in the contestants' modules that creates
            the work.
        variants: {name of a module: {precision: list of variants}}. Each
            variant is a contestant.
        batch_size: number of sequences in a step.
        seq_length: number of WordPieces in a sequence.
        num_steps: number of steps in a repeat.
        repeats: number of timed repeats of each contestant.
        warmup_steps: number of steps before the first repeat.
        num_predictions: number of masked positions in a sequence.
        needs: names of flags that must be set to time the row.
    """

    name: str
    work: str
    variants: dict[str, dict[str, list[str]]]
    batch_size: int
    seq_length: int
    num_steps: int
    repeats: int = 3
    warmup_steps: int = 0
    num_predictions: int = 20
    needs: tuple[str, ...] = ()


# {precision: list of variants}.
ONE = {"float32": [""]}
OURS = ONE | {"bfloat16": [""]}
AUTOCAST = ONE | {"bfloat16": ["autocast"]}
IN_BFLOAT16 = ONE | {"bfloat16": ["autocast", "bfloat16"]}

# The variants of a row.
MRPC = {"ours": OURS, "transformers": AUTOCAST}
PRETRAIN = MRPC | {"keras_hub": OURS}
INFERENCE = {
    "ours": {
        "float32": ["float32", "litert", "onnx"],
        "bfloat16": ["mixed_bfloat16", "bfloat16"],
        "int8": ["litert"],
    },
    "keras_hub": ONE | {"bfloat16": ["mixed_bfloat16", "bfloat16"]},
    "transformers": IN_BFLOAT16 | {"int8": ["int8", "autocast", "bfloat16"]},
}
# {precision: list of variants}, the engines of an export.
ENGINES = {
    "float32": ["saved_model", "litert"],
    "bfloat16": ["saved_model"],
    "int8": ["litert"],
}
# The variants of a row.
ASK = {
    "ours": ENGINES,
    "transformers": IN_BFLOAT16 | {"int8": ["autocast", "bfloat16"]},
}
EMBED = {
    "ours": ENGINES,
    "sentence_transformers": ONE
    | {"bfloat16": ["bfloat16"], "int8": ["bfloat16"]},
}
PAIR = {
    "ours": {"float32": ["litert", "onnx"], "int8": ["litert", "onnx"]},
    "optimum": {"float32": [""], "int8": [""]},
    "sentence_transformers": ONE,
}
BULK = {
    "ours": {
        precision: [
            f"{engine}{flag}"
            for engine in names
            for flag in ("", " --num_processes=2")
        ]
        for precision, names in (
            ("float32", ["saved_model", "litert", "onnx"]),
            ("int8", ["litert"]),
        )
    },
    "transformers": {
        "float32": ["as called", "sorted"],
        "int8": ["bfloat16", "bfloat16 sorted"],
    },
    "optimum": {"float32": ["sorted"], "int8": ["sorted"]},
}
EXPORT = {"ours": {"float32": ["saved_model", "litert", "onnx"]}}
PREDICT = {"ours": {"float32": ["saved_model", "litert"], "int8": ["litert"]}}
RECORDS = {"data": ONE}
SCALABLE = {"data": {"float32": ["--num_processes=1", "--num_processes=0"]}}
LAYER = [f"TokenizerLayer {size}" for size in (1024, 32, 1)]
WORDS = {"data": {"float32": ["FullTokenizer", *LAYER]}, "transformers": ONE}

ON_MRPC = ("minilm_dir", "mrpc_dir")
ON_SQUAD = ("minilm_dir", "squad_file")
ON_TEXT = ("corpus", "vocab_file")
ROWS = [
    Row(
        name="pretrain",
        work="pretrain",
        variants=PRETRAIN,
        batch_size=16,
        seq_length=128,
        num_steps=1,
        warmup_steps=1,
    ),
    Row(
        name="inference_8x128",
        work="inference",
        variants=INFERENCE,
        batch_size=8,
        seq_length=128,
        num_steps=2,
        repeats=7,
        warmup_steps=2,
    ),
    Row(
        name="inference_1x16",
        work="inference",
        variants=INFERENCE,
        batch_size=1,
        seq_length=16,
        num_steps=20,
        repeats=7,
        warmup_steps=20,
    ),
    Row(
        name="mrpc",
        work="mrpc",
        variants=MRPC,
        batch_size=32,
        seq_length=128,
        num_steps=10,
        repeats=3,
        warmup_steps=10,
        needs=ON_MRPC,
    ),
    Row(
        name="answer",
        work="answer",
        variants=ASK,
        batch_size=8,
        seq_length=384,
        num_steps=1,
        repeats=3,
        warmup_steps=1,
        needs=ON_SQUAD,
    ),
    Row(
        name="classify_1",
        work="classify",
        variants=ASK,
        batch_size=1,
        seq_length=128,
        num_steps=64,
        repeats=3,
        warmup_steps=64,
        needs=ON_MRPC,
    ),
    Row(
        name="classify_32",
        work="classify",
        variants=ASK,
        batch_size=32,
        seq_length=128,
        num_steps=4,
        repeats=3,
        warmup_steps=4,
        needs=ON_MRPC,
    ),
    Row(
        name="pair",
        work="classify",
        variants=PAIR,
        batch_size=32,
        seq_length=128,
        num_steps=8,
        repeats=3,
        warmup_steps=8,
        needs=ON_MRPC,
    ),
    Row(
        name="embed",
        work="embed",
        variants=EMBED,
        batch_size=1000,
        seq_length=128,
        num_steps=1,
        repeats=3,
        warmup_steps=1,
        needs=ON_MRPC,
    ),
    Row(
        name="bulk",
        work="bulk",
        variants=BULK,
        batch_size=32,
        seq_length=512,
        num_steps=1,
        repeats=1,
        needs=ON_MRPC,
    ),
    Row(
        name="export",
        work="export_task",
        variants=EXPORT,
        batch_size=32,
        seq_length=128,
        num_steps=1,
        needs=ON_MRPC,
    ),
    Row(
        name="startup_predict",
        work="predict",
        variants=PREDICT,
        batch_size=1,
        seq_length=64,
        num_steps=1,
        needs=("minilm_dir",),
    ),
    Row(
        name="records",
        work="records",
        variants=RECORDS,
        batch_size=1,
        seq_length=0,
        num_steps=1,
        repeats=1,
        needs=ON_TEXT,
    ),
    Row(
        name="records_scalable",
        work="records",
        variants=SCALABLE,
        batch_size=1,
        seq_length=0,
        num_steps=1,
        repeats=1,
        needs=ON_TEXT,
    ),
    Row(
        name="words",
        work="words",
        variants=WORDS,
        batch_size=1,
        seq_length=0,
        num_steps=1,
        repeats=3,
        warmup_steps=1,
        needs=ON_TEXT,
    ),
]
