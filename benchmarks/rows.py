"""The rows that model_benchmark.py times, of BERT-Base unless said otherwise.

    pretrain   a step on 16 x 128, 20 predictions, with dropout, clipping and
               Adam with decay; KerasHub has no next sentence, and
               transformers predicts every position, not only the masked ones
    inference  the encoder over ids, 8 x 128, 1 x 128 and 1 x 16, by Keras and
               by the engines of an export; torch's also with weights in
               bfloat16 and in its own dynamic int8
    mrpc       fine-tuning MiniLM (--minilm_dir, a Hugging Face folder) on
               MRPC (--mrpc_dir), batches of 32, at most 128 long
    squad      answering 200 questions of --squad_file with MiniLM, windows of
               384: windows, network and n best answers
    classify   labels of MRPC's sentences, text in and label out, one at a
               time, 32 and 1,000 at a time: MiniLM's exports by
               `serving.load`, and transformers' pipeline
    pair       the same for pairs of sentences, beside optimum with ONNX Runtime
               and sentence-transformers' cross-encoder (`make bench-optimum`)
    answer     those questions of SQuAD, from text to the n best answers, by an
               export
    tag        named entities of 1,000 sentences of --conll_file
    embed      vectors of 1,000 sentences
    startup    from the start of run_classifier.py to its first step done,
               with the samples' text; `startup_tiny` has the samples' model;
               `startup_predict` is predict.py from its start to its first
               answer, with MiniLM's classifier
    serve      serve.py, asked by 1, 8 and 64 clients, with batches and
               without; needs requirements/serve.txt
    records    create_pretraining_data.py on --corpus, a sentence a line, with
               --vocab_file, five passes; `records_scalable` by one process and
               by one for each processor
    vocabulary tools.create_vocabulary on --corpus
    words      WordPieces of --corpus, MB/s: FullTokenizer in one process, the
               layer on 8,192 lines, 1,024, 32 or one in a call (the notes
               count the processor's seconds), the package tokenizers

Rows in int8 compare with torch's own dynamic int8 and with the fastest of
torch's forms in bfloat16.
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
