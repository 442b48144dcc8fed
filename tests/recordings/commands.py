"""The commands to record, as plain data, and the files that they read.

Each command runs in a folder of its own name, beside the folder `inputs` and
the folders of the other commands. So `../mrpc/run` is a run that the command
`mrpc` made, and all paths are the same wherever the recording is.
"""

import dataclasses
import fnmatch
import json
import re
import shlex
import shutil
from pathlib import Path

from tests.support import task_files
from tests.support.models import TINY

HELP = (
    "create_pretraining_data.py",
    "extract_features.py",
    "predict.py",
    "run_classifier.py",
    "run_ner.py",
    "run_pretraining.py",
    "run_squad.py",
    "run_swag.py",
    "serve.py",
    "-m tools.convert_checkpoint",
    "-m tools.create_vocabulary",
    "-m tools.export",
    "-m tools.plot_runs",
    "-m tools.results_table",
)
ENGINES = ("litert", "onnx", "saved_model")
ALL_FORMATS = "--export_format=saved_model,litert,onnx"


@dataclasses.dataclass(frozen=True)
class Command:
    """A command to record.

    Attributes:
        name: name of the command and of its folder.
        text: the arguments of Python.
        prints: True if its standard output must stay, such as the answers of
            predict.py. Otherwise these are messages, whose words may change.
        status: exit status of the command.
        stop_at: file at whose creation SIGTERM stops the command, if any. What
            the command leaves is not compared, because it stops at any step.
        resumes: name of the command whose folder this one begins with.
        requests: file of requests to the server that the command starts, whose
            replies go to replies.jsonl.
    """

    name: str
    text: str
    prints: bool = False
    status: int = 0
    stop_at: str | None = None
    resumes: str | None = None
    requests: str | None = None

    @property
    def arguments(self) -> list[str]:
        return shlex.split(self.text)

    @property
    def needs(self) -> list[str]:
        """Names of the commands that must run before this one."""
        found = re.findall(r"\.\./([\w.-]+)", self.text)
        names = dict.fromkeys([*found, self.resumes])
        return [name for name in names if name not in (None, "inputs")]


MODEL = """
    --bert_config_file=../inputs/bert_config.json
    --vocab_file=../inputs/samples/vocab.txt
"""
RECORDS = """
    create_pretraining_data.py --input_file=../inputs/samples/corpus.txt
    --vocab_file=../inputs/samples/vocab.txt --output_file=train.tfrecord
    --max_seq_length=32 --max_predictions_per_seq=5
"""
PRETRAIN = f"""
    run_pretraining.py {MODEL} --max_seq_length=32 --max_predictions_per_seq=5
    --train_batch_size=16 --learning_rate=1e-3 --num_warmup_steps=2
    --output_dir=run
"""
# Runs start from the run of `pretraining`, but for some with random weights.
FINE_TUNE = """
    --init_checkpoint=../pretraining/run --output_dir=run --max_seq_length=24
    --train_batch_size=8 --learning_rate=1e-3 --do_train --do_eval
"""
MRPC = f"""
    run_classifier.py {FINE_TUNE} --task_name=MRPC
    --data_dir=../inputs/samples/glue
"""
SQUAD = """
    run_squad.py --init_checkpoint=../pretraining/run --output_dir=run
    --max_seq_length=64 --max_query_length=24 --doc_stride=16 --n_best_size=5
    --train_batch_size=8 --learning_rate=1e-3 --do_train --do_predict
"""
DATA_FILE = """
    --init_checkpoint=../pretraining/run --output_dir=run --seed=7
    --train_batch_size=16
"""

MAKING = [
    Command(
        "vocabulary",
        """
        -m tools.create_vocabulary --input_file=../inputs/samples/corpus.txt
        --output_file=vocab.txt --vocab_size=800
        """,
    ),
    Command(
        "vocabulary_extended",
        """
        -m tools.create_vocabulary --input_file=../inputs/domain.txt
        --extend=../inputs/samples/vocab.txt --output_file=vocab.txt
        --num_new_words=20
        """,
    ),
    Command("records", f"{RECORDS} --dupe_factor=2"),
    Command(
        "records_whole_word",
        f"""
        {RECORDS} --dupe_factor=2 --do_whole_word_mask --num_shards=2
        --num_processes=2 --eval_fraction=0.1
        """,
    ),
    Command(
        "records_dynamic",
        f"{RECORDS} --dupe_factor=1 --dynamic_masking --num_shards=1",
    ),
]

TRAINING = [
    Command(
        "pretraining",
        f"""
        {PRETRAIN} --input_file=../records/train.tfrecord --do_train --do_eval
        --num_train_steps=8 --save_checkpoints_steps=3 --max_eval_steps=4
        --export_dir=export {ALL_FORMATS} --export_weights=weights
        """,
    ),
    Command(
        "pretraining_dynamic",
        f"""
        {PRETRAIN} --input_file=../records_dynamic/train.tfrecord-*
        --eval_input_file=../records_whole_word/eval-train.tfrecord --do_train
        --do_eval --eval_steps=2 --num_train_steps=4 --do_whole_word_mask
        --optimizer=lamb --gradient_accumulation_steps=2
        """,
    ),
    Command(
        "mrpc",
        f"""
        {MRPC} --do_predict --report --glue_submission --num_train_epochs=0.2
        --save_checkpoints_steps=9 --export_dir=export --export_weights=weights
        {ALL_FORMATS}
        """,
    ),
    Command(
        "mrpc_eval",
        """
        run_classifier.py --task_name=MRPC --do_eval --do_predict
        --data_dir=../inputs/samples/glue --init_checkpoint=../mrpc/run
        --output_dir=run
        """,
    ),
    Command(
        "mnli",
        f"""
        run_classifier.py {MODEL} --output_dir=run --max_seq_length=24
        --train_batch_size=4 --learning_rate=1e-3 --do_train --do_eval
        --task_name=mnli --data_dir=../inputs/mnli --early_stopping_patience=1
        --num_train_epochs=3 --class_weights=balanced --left_to_right --bilstm
        """,
    ),
    Command(
        "regression",
        f"""
        run_classifier.py {FINE_TUNE} --task_name=sts-b --do_predict
        --data_dir=../inputs/regression --num_train_epochs=2 --glue_submission
        --export_dir=export {ALL_FORMATS}
        """,
    ),
    Command(
        "multilabel",
        f"""
        run_classifier.py {FINE_TUNE} --task_name=csv --do_predict --report
        --data_dir=../inputs/multilabel --output_mode=multilabel
        --text_column=review --label_column=colours --label_separator=|
        --num_train_epochs=2 --export_dir=export {ALL_FORMATS}
        """.replace("=|", "='|'"),
    ),
    Command(
        "pairs",
        f"""
        run_classifier.py {FINE_TUNE} --task_name=embedding
        --data_dir=../inputs/pairs --num_train_epochs=2
        """,
    ),
    Command(
        "scored_pairs",
        f"""
        run_classifier.py {FINE_TUNE} --task_name=embedding --do_predict
        --data_dir=../inputs/scored_pairs --num_train_epochs=1
        --export_dir=export {ALL_FORMATS}
        """,
    ),
    Command(
        "ranking",
        f"""
        run_classifier.py {FINE_TUNE} --task_name=ranking --do_predict
        --data_dir=../inputs/ranking --num_train_epochs=1
        --export_dir=export {ALL_FORMATS}
        """,
    ),
    Command(
        "long_texts",
        f"""
        run_classifier.py {MODEL} --output_dir=run --max_seq_length=16
        --train_batch_size=16 --learning_rate=3e-3 --do_train --do_eval
        --task_name=csv --data_dir=../inputs/long_texts --do_predict --report
        --doc_stride=7 --num_train_epochs=1 --evaluate_each_epoch
        --export_dir=export {ALL_FORMATS}
        """,
    ),
    Command(
        "table",
        f"""
        run_classifier.py {DATA_FILE} --num_train_epochs=2
        --data_file=../inputs/samples/topics/train.csv {ALL_FORMATS}
        """,
    ),
    Command(
        "distillation",
        """
        run_classifier.py --task_name=MRPC --output_dir=run --do_train --do_eval
        --data_dir=../inputs/samples/glue --max_seq_length=24
        --bert_config_file=../inputs/one_block.json --train_batch_size=8
        --num_train_epochs=0.1 --learning_rate=1e-3 --teacher=../mrpc/run
        --init_layers=1 --distill_hidden
        """,
    ),
    Command(
        "entities",
        f"""
        run_ner.py {FINE_TUNE} --do_predict --report
        --data_dir=../inputs/entities --num_train_epochs=2
        --evaluate_each_epoch --export_dir=export --export_weights=weights
        {ALL_FORMATS}
        """,
    ),
    Command(
        "entities_table",
        f"""
        run_ner.py {DATA_FILE} --num_train_epochs=2
        --data_file=../inputs/entities.jsonl --export_format=litert
        """,
    ),
    Command(
        "squad",
        f"""
        {SQUAD} --train_file=../inputs/samples/squad/train.json
        --predict_file=../inputs/samples/squad/dev.json --report
        --num_train_epochs=0.1 --export_dir=export {ALL_FORMATS}
        """,
    ),
    Command(
        "squad_v2",
        f"""
        {SQUAD} --train_file=../inputs/samples/squad/train-v2.json
        --predict_file=../inputs/samples/squad/dev-v2.json --report
        --version_2_with_negative --num_train_epochs=0.1 --export_dir=export
        {ALL_FORMATS}
        """,
    ),
    Command(
        "swag",
        f"""
        run_swag.py {FINE_TUNE} --data_dir=../inputs/swag --do_predict
        --num_train_epochs=1 --export_dir=export {ALL_FORMATS}
        """,
    ),
]

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


def predict(model, task, requests, engine, **more):
    """Returns the command that asks an engine of an export."""
    folder = "run_model" if model.endswith("table") else "export"
    flags = "".join(f" --{name}={value}" for name, value in more.items())
    return Command(
        f"ask.{model}.{task}.{engine}",
        f"predict.py --model=../{model}/{folder} --task={task} "
        f"--engine={engine} --input_file=../inputs/requests/{requests} "
        f"--output_file=answers.jsonl{flags}",
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

STOPPED_MRPC = f"{MRPC} --do_predict --num_train_epochs=3 --report"
STOPPED_TABLE = f"""
    run_classifier.py {DATA_FILE} --num_train_epochs=8 --export_format=litert
    --data_file=../inputs/samples/topics/train.csv
"""
STOPPED_PRETRAINING = f"""
    {PRETRAIN} --input_file=../records/train.tfrecord --do_train --do_eval
    --num_train_steps=150 --save_checkpoints_steps=20 --max_eval_steps=4
"""
STOPPED = [
    ("mrpc", f"{STOPPED_MRPC} --save_checkpoints_steps=40"),
    ("table", f"{STOPPED_TABLE} --save_checkpoints_steps=20"),
    ("pretraining", STOPPED_PRETRAINING),
]
# A recording of another commit resumes the runs that the base has stopped.
STOPPING = [
    Command(f"stop.{name}", text, status=75, stop_at="run/model.ckpt-*.index")
    for name, text in STOPPED
]
RESUMING = [
    Command(f"resume.{name}", text, resumes=f"stop.{name}")
    for name, text in STOPPED
]
HELPING = [
    Command(
        f"{option}.{script.removeprefix('-m ').removesuffix('.py')}",
        f"{script} --{option}",
        prints=True,
    )
    for script in HELP
    for option in ("help", "helpfull")
]
COMMANDS = {
    command.name: command
    for command in [
        *HELPING,
        *MAKING,
        *TRAINING,
        *STOPPING,
        *USING,
        *ASKING,
        *RESUMING,
    ]
}


def select(only=""):
    """Returns {name: command} of names and patterns, separated by commas.

    Raises:
        ValueError: a pattern matches no command.
    """
    found = set()
    for pattern in filter(None, only.split(",")):
        matches = fnmatch.filter(COMMANDS, pattern)
        if not matches:
            raise ValueError(
                f"--only={pattern} matches no command; the commands are "
                f"{', '.join(COMMANDS)}"
            )
        found |= {*matches}
    return {k: v for k, v in COMMANDS.items() if k in found or not only}


TEXTS = [
    "the river is red",
    "A Blue boat on the water!",
    "\u00c9t\u00e9 \u00e0 Marr\u00e9, na\u00efve \u4e2d\u6587 caf\u00e9.",
    "the boat and the sea at noon in the harbor of the river " * 6 + "blue",
    "\u200bzero\u00a0width \ufb01sh \U0001f600 e\u0301",
    "[MASK] [SEP] the boat",
    "unbelievablylongwordthatnobodyknows" * 4,
    "",
    " .",
]
PASSAGES = [
    "The Old Lamp is a small boat that belongs to Marr\u00e9. Her crew is made "
    "up of five people. Both of her sides are brown.",
    "The light of the harbor is kept by Anna. " * 12,
]


def write_inputs(folder, samples):
    """Writes the files that the commands read, from a checkout's samples."""
    folder = Path(folder)
    shutil.copytree(samples, folder / "samples")
    # Large weights, so that answers differ and every part of the model counts.
    config = TINY | {"initializer_range": 0.2}
    (folder / "bert_config.json").write_text(json.dumps(config))
    one_block = config | {"num_hidden_layers": 1}
    (folder / "one_block.json").write_text(json.dumps(one_block))
    task_files.write_regression(folder / "regression")
    task_files.write_mnli(folder / "mnli")
    task_files.write_table(folder / "multilabel")
    task_files.write_long_texts(folder / "long_texts")
    for name in ("entities", "swag"):
        (folder / name).mkdir()
    task_files.write_entity_sets(folder / "entities")
    task_files.write_swag_sets(folder / "swag")
    texts = ["the river", "a boat sails", "the sky is blue", "an old lamp"]
    rows = [(a, b, int(a == b)) for a in texts for b in texts]
    tables = {
        "ranking": (["query", "passage", "relevance"], rows),
        "pairs": (["text", "text_b"], [(x, f"{x} now") for x in texts]),
        "scored_pairs": (["text", "text_b", "score"], rows),
    }
    for kind, (header, rows) in tables.items():
        for name in ("train", "dev", "test"):
            task_files.write_csv(folder / kind / f"{name}.csv", header, rows)
    _write_labeled_texts(folder)
    (folder / "domain.txt").write_text(
        "The trabeculectomy lowers the pressure.\n"
        "After trabeculectomy a phacoemulsification may follow.\n\n" * 20
    )
    (folder / "lines.txt").write_text(
        "The river is red\nA boat ||| the water\n\nMarr\u00e9\n", "utf-8"
    )
    _write_requests(folder / "requests")


def _write_labeled_texts(folder):
    # Sentences of the samples as JSON, with the entities that their tags are.
    text = (folder / "samples/entities/train.txt").read_text("utf-8")
    lines = []
    for number, sentence in enumerate(text.strip().split("\n\n")[:80]):
        position, entities, words = 0, [], []
        for line in sentence.split("\n"):
            word, tag = line.split()[0], line.split()[-1]
            end = position + len(word)
            if tag.startswith("I-") and entities:
                entities[-1][1] = end
            elif tag != "O":
                entities.append([position, end, tag[2:]])
            words.append(word)
            position = end + 1
        row = {"id": number, "text": " ".join(words), "label": entities}
        lines.append(json.dumps(row) + "\n")
    (folder / "entities.jsonl").write_text("".join(lines))


def _write_requests(folder):
    folder.mkdir()
    pairs = zip(TEXTS, [*TEXTS[1:], TEXTS[0]], strict=True)
    questions = ["Who keeps the light?", "How many people?", TEXTS[2]]
    requests = {
        "texts": [{"text": text, "id": i} for i, text in enumerate(TEXTS)],
        "pairs": [{"text_a": a, "text_b": b} for a, b in pairs],
        "masks": [
            {"text": "The [MASK] is blue."},
            {"text": f"{TEXTS[3]} [MASK]"},
            {"text": "[MASK] [MASK] and the sea"},
        ],
        "passages": [
            {"query": "the boat", "passages": [x for x in TEXTS if x.strip()]},
            {"query": "the boat", "passages": PASSAGES},
        ],
        "questions": [
            {"question": question, "context": context}
            for question in questions
            for context in PASSAGES
        ],
        "wrong": [{"text_a": "one"}, {"text": 3}, [], {"text_b": "two"}, {}],
    }
    paths = {
        "mrpc/classify": [*requests["pairs"], *requests["wrong"]],
        "squad/answer": requests["questions"],
        "names/tag": requests["texts"],
        "vectors/embed": requests["texts"],
        "words/fill-mask": requests["masks"],
        "ranking/rerank": requests["passages"],
        "mrpc/tokenize": requests["texts"],
        "no/classify": requests["texts"][:1],
        "mrpc/answer": requests["texts"][:1],
    }
    first = [{"path": path} for path in ("/healthz", "/api/models")]
    last = {
        "path": "/v1/models/mrpc:predict",
        "body": {"instances": requests["pairs"][:2]},
    }
    asked = [
        {"path": f"/api/models/{path}", "body": body}
        for path, bodies in paths.items()
        for body in bodies
    ]
    requests["server"] = [*first, {"path": "/openapi.json"}, *asked, last]
    for name, rows in requests.items():
        lines = [json.dumps(row) + "\n" for row in rows]
        (folder / f"{name}.jsonl").write_text("".join(lines))
