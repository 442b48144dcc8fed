"""The rows that model_benchmark.py times. The default model is BERT-Base.

    pretrain   one training step on 16 sequences of 128 WordPieces with 20
               predictions, with dropout, clipping and AdamW. KerasHub predicts
               no next sentence. transformers predicts at every position, not
               only at masked positions.
    inference  the encoder on batches of 8 x 128, 1 x 128 and 1 x 16 ids, in
               Keras and in the engines of an export. torch also runs with
               weights in bfloat16, and with dynamic int8.
    mrpc       fine-tuning MiniLM (--minilm_dir, a Hugging Face folder) on
               MRPC (--mrpc_dir), in batches of 32 texts of at most 128
               WordPieces
    squad      run_squad.py's answers to 200 questions of --squad_file with
               MiniLM: cutting windows of 384 WordPieces, running the network
               and finding the n best answers
    classify   labels of MRPC's sentences, 1, 32 or 1,000 at a time, from text
               to label: MiniLM's exports with `serving.load`, and the pipeline
               of transformers
    pair       labels of pairs of sentences, beside optimum with ONNX Runtime
               and sentence-transformers' cross-encoder (`make bench-optimum`)
    answer     an export's answers to 200 questions of --squad_file, from text
               to the n best answers
    tag        named entities in 1,000 sentences of --conll_file
    embed      embedding vectors of 1,000 sentences of MRPC
    startup    run_classifier.py from its start to the end of its first step,
               on the texts of examples/samples. `startup_tiny` uses the small
               model in this folder. `startup_predict` runs predict.py with
               MiniLM's classifier from its start to its first answer.
    serve      serve.py with 1, 8 and 64 clients, with and without batching
               (needs requirements/serve.txt)
    records    create_pretraining_data.py on --corpus (one sentence per line)
               with --vocab_file, in five passes. `records_scalable` uses one
               process, or one process for each processor.
    vocabulary tools.create_vocabulary on --corpus
    words      tokenizing --corpus, in MB/s: FullTokenizer in one process,
               TokenizerLayer on 8,192 lines with 1,024, 32 or 1 lines in a
               call (the notes count processor time), and the package
               tokenizers

Rows in int8 also time torch in its fastest form of bfloat16. The rows
`inference` also time torch's dynamic int8.
"""

from typing import NamedTuple


class Row(NamedTuple):
    """Work to time, in each precision of its first contestant.

    Attributes:
        name: name of the row, without the precision.
        work: name of the function in the contestants' modules that creates
            the work.
        ways: {contestant: {precision: ways}}. Ways are a list of variants, of
            which only the fastest is timed. A list of such lists creates one
            contestant for each inner list, and None one for each --our_flags.
        batch_size: number of sequences in a step, or number of clients.
        seq_length: number of WordPieces in a sequence.
        num_steps: number of steps in a repeat, or for a server the seconds of a
            repeat.
        repeats: number of timed repeats of each contestant.
        warmup_steps: number of steps before the first repeat.
        num_predictions: number of masked positions in a sequence.
        needs: names of flags that must be set to time the row.
        config: bert_config.json of this project that replaces
            --bert_config_file, or None.
    """

    name: str
    work: str
    ways: dict
    batch_size: int
    seq_length: int
    num_steps: int
    repeats: int = 3
    warmup_steps: int = 0
    num_predictions: int = 20
    needs: tuple = ()
    config: str | None = None


def both(float32, bfloat16):
    """Returns {precision: value} from the values for two precisions."""
    return {"float32": float32, "bfloat16": bfloat16}


PEERS = ("keras_hub", "transformers", "optimum", "sentence_transformers")

OURS = both(None, None)
AUTOCAST = both([""], ["autocast"])
IN_BFLOAT16 = both([""], ["autocast", "bfloat16"])
MRPC = {"ours": OURS, "transformers": AUTOCAST}
PRETRAIN = MRPC | {"keras_hub": both([""], [""])}
INFERENCE = {
    "ours": {
        "float32": [["float32"], ["litert"], ["onnx"]],
        "bfloat16": [["mixed_bfloat16", "bfloat16"], ["openvino"]],
        "int8": [["litert"], ["onnx"]],
    },
    "keras_hub": both([""], ["mixed_bfloat16", "bfloat16"]),
    "transformers": IN_BFLOAT16
    | {"int8": [["int8"], ["autocast", "bfloat16"]]},
}
IN_TEXT = {"ours": OURS, "transformers": IN_BFLOAT16}
ENGINES = {
    "float32": [["saved_model"], ["litert"]],
    "bfloat16": [["saved_model"], ["openvino"]],
    "int8": ["litert"],
}
ASK = {
    "ours": ENGINES,
    "transformers": IN_BFLOAT16 | {"int8": ["autocast", "bfloat16"]},
}
EMBED = {
    "ours": ENGINES,
    "sentence_transformers": both([""], ["bfloat16"]) | {"int8": ["bfloat16"]},
}
PAIR = {
    "ours": {"float32": [["litert"], ["onnx"]], "int8": [["litert"], ["onnx"]]},
    "optimum": {"float32": [""], "int8": [""]},
    "sentence_transformers": {"float32": [""]},
}
PREDICT = {
    "ours": {"float32": [["saved_model"], ["litert"]], "int8": ["litert"]},
    "optimum": {"float32": [""], "int8": [""]},
}
STARTUP = {"ours": {"float32": [""]}}
SERVE = {
    "server": {
        "float32": [["litert"], ["saved_model"]],
        "int8": [["litert"], ["litert --max_batch_size=1"]],
    }
}
RECORDS = {"data": {"float32": [""]}}
SCALABLE = {"data": {"float32": [["--num_processes=1"], ["--num_processes=0"]]}}
WORDS = {
    "data": {
        "float32": [
            ["FullTokenizer"],
            *([f"TokenizerLayer {size}"] for size in (1024, 32, 1)),
        ]
    },
    "transformers": {"float32": [""]},
}

ON_MRPC = ("minilm_dir", "mrpc_dir")
ON_SQUAD = ("minilm_dir", "squad_file")
ON_CONLL = ("minilm_dir", "conll_file")
ON_TEXT = ("corpus", "vocab_file")
TINY = "examples/samples/bert_config.json"
ROWS = [
    Row("pretrain", "pretrain", PRETRAIN, 16, 128, 1, warmup_steps=1),
    Row("inference_8x128", "inference", INFERENCE, 8, 128, 2, 7, 2),
    Row("inference_1x128", "inference", INFERENCE, 1, 128, 10, 7, 10),
    Row("inference_1x16", "inference", INFERENCE, 1, 16, 20, 7, 20),
    Row("mrpc", "mrpc", MRPC, 32, 128, 10, needs=ON_MRPC),
    Row("squad", "squad", IN_TEXT, 8, 384, 1, needs=ON_SQUAD),
    Row("answer", "answer", ASK, 8, 384, 1, needs=ON_SQUAD),
    Row("classify_1", "classify", ASK, 1, 128, 64, needs=ON_MRPC),
    Row("classify_32", "classify", ASK, 32, 128, 4, needs=ON_MRPC),
    Row("classify_1000", "classify", ASK, 1000, 128, 1, needs=ON_MRPC),
    Row("pair_1", "classify", PAIR, 1, 128, 64, needs=ON_MRPC),
    Row("pair_32", "classify", PAIR, 32, 128, 8, needs=ON_MRPC),
    Row("tag", "tag", ASK, 32, 128, 1, needs=ON_CONLL),
    Row("embed", "embed", EMBED, 1000, 128, 1, needs=ON_MRPC),
    Row("startup", "startup", STARTUP, 16, 64, 1),
    Row("startup_tiny", "startup", STARTUP, 16, 64, 1, config=TINY),
    Row("startup_predict", "predict", PREDICT, 1, 64, 1, needs=("minilm_dir",)),
    Row("serve_1", "load", SERVE, 1, 128, 5),
    Row("serve_8", "load", SERVE, 8, 128, 5),
    Row("serve_64", "load", SERVE, 64, 128, 5),
    Row("records", "records", RECORDS, 1, 0, 1, 1, needs=ON_TEXT),
    Row("records_scalable", "records", SCALABLE, 1, 0, 1, 1, needs=ON_TEXT),
    Row("vocabulary", "vocabulary", RECORDS, 1, 0, 1, 1, needs=("corpus",)),
    Row("words", "words", WORDS, 1, 0, 1, needs=ON_TEXT),
]
