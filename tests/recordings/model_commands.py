"""Commands that convert, export and ask the models that others trained."""

from tests.recordings.command import ALL_FORMATS, Command

ENGINES = ("litert", "onnx", "saved_model")

USING = [
    Command(
        "vectors",
        """
        extract_features.py --init_checkpoint=../pretraining/run
        --input_file=../inputs/lines.txt --output_file=vectors.jsonl
        --layers=-1,-2 --max_seq_length=16
        """,
    ),
    Command(
        "to_huggingface",
        """
        -m tools.convert_checkpoint --init_checkpoint=../mrpc/run
        --output_dir=model
        """,
    ),
    Command(
        "to_tf1",
        """
        -m tools.convert_checkpoint --init_checkpoint=../to_huggingface/model
        --output_dir=model
        """,
    ),
    Command(
        "to_more_words",
        """
        -m tools.convert_checkpoint --init_checkpoint=../pretraining/weights
        --extended_vocab_file=../vocabulary_extended/vocab.txt
        --output_dir=model
        """,
    ),
    Command(
        "export",
        f"""
        -m tools.export --model=../mrpc/run --export_dir=export {ALL_FORMATS}
        --export_seq_length=16
        """,
    ),
    Command(
        "export_int8",
        """
        -m tools.export --model=../entities/weights --export_dir=export
        --quantize=int8 --export_format=litert,onnx
        """,
    ),
    Command(
        "export_vectors",
        f"""
        -m tools.export --model=../to_huggingface/model --export_dir=export
        --task=embed {ALL_FORMATS}
        """,
    ),
    Command(
        "export_words",
        """
        -m tools.export --model=../to_more_words/model --export_dir=export
        --task=fill-mask --export_format=litert
        """,
    ),
    Command(
        "results",
        """
        -m tools.results_table --output=table.md
        --runs=../mrpc/run,../squad/run,../entities/run,../ranking/run
        """,
        prints=True,
    ),
]


def predict(
    model: str, task: str, requests: str, engine: str, **flags: object
) -> Command:
    """Returns the command that asks an engine of an export."""
    folder = "run_model" if model.endswith("table") else "export"
    more = "".join(f" --{name}={value}" for name, value in flags.items())
    return Command(
        f"ask.{model}.{task}.{engine}",
        f"predict.py --model=../{model}/{folder} --task={task} "
        f"--engine={engine} --input_file=../inputs/requests/{requests} "
        f"--output_file=answers.jsonl{more}",
    )


# (command that exported, task, requests) of each export with all formats.
ASKED = [
    ("pretraining", "fill-mask", "masks.jsonl"),
    ("pretraining", "next-sentence", "pairs.jsonl"),
    ("pretraining", "tokenize", "texts.jsonl"),
    ("mrpc", "classify", "pairs.jsonl"),
    ("regression", "classify", "pairs.jsonl"),
    ("multilabel", "classify", "texts.jsonl"),
    ("scored_pairs", "embed", "texts.jsonl"),
    ("export_vectors", "embed", "texts.jsonl"),
    ("ranking", "rerank", "passages.jsonl"),
    ("long_texts", "classify", "texts.jsonl"),
    ("table", "classify", "texts.jsonl"),
    ("entities", "tag", "texts.jsonl"),
    ("squad", "answer", "questions.jsonl"),
    ("squad_v2", "answer", "questions.jsonl"),
    ("export", "classify", "pairs.jsonl"),
]
ASKING = [
    *(predict(*each, engine) for each in ASKED for engine in ENGINES),
    predict("export_int8", "tag", "texts.jsonl", "litert"),
    predict("export_int8", "tag", "texts.jsonl", "onnx"),
    predict("export_words", "fill-mask", "masks.jsonl", "litert"),
    predict("entities_table", "tag", "texts.jsonl", "litert"),
    Command(
        "ask_table",
        """
        predict.py --model=../table/run_model
        --input_file=../inputs/samples/topics/test.csv
        --output_file=answers.csv
        """,
    ),
    Command(
        "ask_arguments",
        """
        predict.py --model=../squad/export --engine=litert
        'Who keeps the harbor?' 'The light of the harbor is kept by Anna.'
        """,
        prints=True,
    ),
    Command(
        "ask_wrongly",
        """
        predict.py --model=../mrpc/export --engine=litert
        --input_file=../inputs/requests/wrong.jsonl
        --output_file=answers.jsonl
        """,
        status=1,
    ),
    Command(
        "ask_server",
        """
        serve.py --model=mrpc=../mrpc/export --model=squad=../squad/export
        --model=names=../entities/export --model=vectors=../scored_pairs/export
        --model=words=../pretraining/export --model=ranking=../ranking/export
        """,
        requests="../inputs/requests/server.jsonl",
    ),
]
