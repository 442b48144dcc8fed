"""The rows that model_benchmark.py times, of BERT-Base unless said otherwise.

    pretrain   a step on 16 x 128, 20 predictions, with dropout, clipping and
               Adam with decay; KerasHub has no next sentence, and
               transformers predicts every position, not only the masked ones
    inference  the encoder, 8 x 128 and 1 x 16; KerasHub's and ours also with
               weights in bfloat16; ours in int8 is LiteRT's
    mrpc       fine-tuning MiniLM (--minilm_dir, a Hugging Face folder) on
               MRPC (--mrpc_dir), batches of 32, at most 128 long
    squad      answering 200 questions of --squad_file with MiniLM, windows of
               384: windows, network and n best answers
    classify   labels of MRPC's sentences, text in and label out, one at a
               time, 32 and 1,000 at a time: MiniLM's exports by
               `serving.load`, and transformers' pipeline
    startup    from the start of run_classifier.py to its first step done,
               with the samples' text; `startup_tiny` has the samples' model;
               `startup_predict` is predict.py from its start to its first
               answer, with MiniLM
    runtime    the classifier of MRPC in --model_dir (a checkpoint of either
               format, its configuration, vocabulary and labels) in each form
               of --export_format and in its runtime, ids in and probabilities
               out; --student_dir is a smaller one
    serve      serve.py, asked by 1, 8 and 64 clients, with batches and
               without; needs requirements/serve.txt
    records    create_pretraining_data.py on --corpus, a sentence a line, with
               --vocab_file, five passes; `records_scalable` by one process and
               by one for each processor
    vocabulary tools.create_vocabulary on --corpus
    words      WordPieces of --corpus, MB/s: FullTokenizer in one process, the
               layer on 8,192 lines, 1,024, 32 or one in a call (the notes
               count the processor's seconds), the package tokenizers

The row in int8 compares with torch's own dynamic int8, and with the fastest of
torch's bfloat16.
"""

from typing import NamedTuple


class Row(NamedTuple):
    """One line of work, in each precision of its first contestant.

    Attributes:
        name: name of the row, without the precision.
        work: name of the contestants' function.
        ways: {contestant: {precision: the ways in which it may work, of which
            the fastest counts}}; a list of such lists for several contestants;
            None for what --our_flags says.
        batch_size: sequences in a step, or clients.
        seq_length: WordPieces in a sequence.
        num_steps: steps in a repeat; seconds for a server.
        repeats: timed repeats of each contestant.
        warmup_steps: steps before the repeat to begin with.
        num_predictions: masked positions of a sequence.
        needs: flags that must be set.
        config: a model of this project instead of --bert_config_file.
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
    """Returns a dict from each precision to its value."""
    return {"float32": float32, "bfloat16": bfloat16}


PEERS = ("keras_hub", "transformers")
# The peer of the rows `runtime`.
TORCH = "torch float32"

OURS = both(None, None)
AUTOCAST = both([""], ["autocast"])
IN_BFLOAT16 = both([""], ["autocast", "bfloat16"])
MRPC = {"ours": OURS, "transformers": AUTOCAST}
PRETRAIN = MRPC | {"keras_hub": both([""], [""])}
INFERENCE = {
    "ours": {
        "float32": ["float32"],
        "bfloat16": ["mixed_bfloat16", "bfloat16"],
        "int8": ["litert"],
    },
    "keras_hub": both([""], ["mixed_bfloat16", "bfloat16"]),
    "transformers": IN_BFLOAT16
    | {"int8": [["int8"], ["autocast", "bfloat16"]]},
}
IN_TEXT = {"ours": OURS, "transformers": IN_BFLOAT16}
CLASSIFY = {
    "ours": {
        "float32": [["saved_model"], ["litert"]],
        "bfloat16": ["saved_model"],
        "int8": ["litert"],
    },
    "transformers": IN_BFLOAT16 | {"int8": ["autocast", "bfloat16"]},
}
PREDICT = {
    "ours": {"float32": [["saved_model"], ["litert"]], "int8": ["litert"]}
}
STARTUP = {"ours": {"float32": [""]}}
SAVED_MODELS = ("saved_model float32", "saved_model bfloat16")
RUNTIMES = (
    *SAVED_MODELS,
    *("litert float32", "litert int8", "onnx float32", "onnx int8"),
    *("openvino float32", "openvino bfloat16", TORCH, "torch bfloat16"),
    *(f"student {way}" for way in SAVED_MODELS),
)
RUNTIME = {"runtime": {"float32": [[way] for way in RUNTIMES]}}
SERVE = {"server": {"float32": [[""], ["--max_batch_size=1"]]}}
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
TUNED = ("model_dir", "mrpc_dir")
ON_TEXT = ("corpus", "vocab_file")
TINY = "examples/samples/bert_config.json"
ROWS = [
    Row("pretrain", "pretrain", PRETRAIN, 16, 128, 1, warmup_steps=1),
    Row("inference_8x128", "inference", INFERENCE, 8, 128, 2, 7, 2),
    Row("inference_1x16", "inference", INFERENCE, 1, 16, 20, 7, 20),
    Row("mrpc", "mrpc", MRPC, 32, 128, 10, needs=ON_MRPC),
    Row("squad", "squad", IN_TEXT, 8, 384, 1, needs=ON_SQUAD),
    Row("classify_1", "classify", CLASSIFY, 1, 128, 64, needs=ON_MRPC),
    Row("classify_32", "classify", CLASSIFY, 32, 128, 4, needs=ON_MRPC),
    Row("classify_1000", "classify", CLASSIFY, 1000, 128, 1, needs=ON_MRPC),
    Row("startup", "startup", STARTUP, 16, 64, 1),
    Row("startup_tiny", "startup", STARTUP, 16, 64, 1, config=TINY),
    Row("startup_predict", "predict", PREDICT, 1, 64, 1, needs=("minilm_dir",)),
    Row("runtime_1x16", "latency", RUNTIME, 1, 16, 10, 5, 1, needs=TUNED),
    Row("runtime_1x128", "latency", RUNTIME, 1, 128, 10, 5, 1, needs=TUNED),
    Row("runtime_8x128", "latency", RUNTIME, 8, 128, 10, 5, 1, needs=TUNED),
    Row("serve_1", "load", SERVE, 1, 128, 5),
    Row("serve_8", "load", SERVE, 8, 128, 5),
    Row("serve_64", "load", SERVE, 64, 128, 5),
    Row("records", "records", RECORDS, 1, 0, 1, 1, needs=ON_TEXT),
    Row("records_scalable", "records", SCALABLE, 1, 0, 1, 1, needs=ON_TEXT),
    Row("vocabulary", "vocabulary", RECORDS, 1, 0, 1, 1, needs=("corpus",)),
    Row("words", "words", WORDS, 1, 0, 1, needs=ON_TEXT),
]
