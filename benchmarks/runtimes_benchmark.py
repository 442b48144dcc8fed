"""Times one classifier in every form and runtime that it is exported to.

    make bench-runtimes MODEL_DIR=DIR MRPC_DIR=DIR

exports the fine-tuned classifier in --model_dir (a checkpoint of either
format, its configuration, vocabulary and labels) as a SavedModel in float32,
bfloat16 and int8, and for LiteRT, ONNX Runtime and OpenVINO, and loads it into
transformers too. Each is a process; they take turns, so that all share the
machine's fast and slow minutes. What is not installed is left out, and said.

The table has, for each, the size of its model files, the milliseconds of
batches 1 x 16, 1 x 128 and 8 x 128 (medians), how many times as fast as torch
in float32 (above 1 is faster), and the accuracy on MRPC's dev set. A smaller
model of the same task, --student_dir, is timed as a SavedModel next to it.
Without --model_dir the model has --bert_config_file's sizes and random weights,
and no accuracy.
"""

import importlib.util
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from absl import app, flags

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import race, rows  # noqa: E402

FLAGS = flags.FLAGS

SHAPES = [(1, 16), (1, 128), (8, 128)]
# (name, runtime, its module, precision there, flags of the export)
FORMS = [
    ("SavedModel float32", "saved_model", "tensorflow", None, {}),
    (
        "SavedModel bfloat16",
        "saved_model",
        "tensorflow",
        None,
        {"mixed_precision": "bfloat16"},
    ),
    (
        "SavedModel int8",
        "saved_model",
        "tensorflow",
        None,
        {"quantize": "int8"},
    ),
    (
        "SavedModel int8, static",
        "saved_model",
        "tensorflow",
        None,
        {"quantize": "int8", "quantize_ranges": "static"},
    ),
    (
        "LiteRT float32",
        "litert",
        "ai_edge_litert",
        None,
        {"export_format": "litert"},
    ),
    (
        "LiteRT int8",
        "litert",
        "ai_edge_litert",
        None,
        {"export_format": "litert", "quantize": "int8"},
    ),
    (
        "ONNX float32",
        "onnx",
        "onnxruntime",
        None,
        {"export_format": "onnx"},
    ),
    (
        "ONNX int8",
        "onnx",
        "onnxruntime",
        None,
        {"export_format": "onnx", "quantize": "int8"},
    ),
    (
        "OpenVINO float32",
        "openvino",
        "openvino",
        "f32",
        {"export_format": "openvino"},
    ),
    (
        "OpenVINO bfloat16",
        "openvino",
        "openvino",
        "bf16",
        {"export_format": "openvino"},
    ),
    ("torch float32", "torch", "transformers", "float32", None),
    ("torch bfloat16", "torch", "transformers", "bfloat16", None),
]


def define_flags():
    """Defines the flags."""
    flags.DEFINE_string("model_dir", None, "Folder of a classifier of MRPC.")
    flags.DEFINE_string(
        "student_dir", None, "Folder of a smaller one, of the same vocabulary."
    )
    flags.DEFINE_string("mrpc_dir", None, "Folder of MRPC's dev.tsv.")
    flags.DEFINE_string(
        "bert_config_file",
        str(rows.ROOT / "configs" / "uncased_L-12_H-768_A-12.json"),
        "The model's sizes where there is no --model_dir.",
    )
    flags.DEFINE_bool("do_lower_case", True, "As the model was trained.")
    flags.DEFINE_integer("repeats", 5, "Turns of each form.", 1)
    flags.DEFINE_integer("num_steps", 10, "Batches of a shape in a turn.", 1)


def create_model_dir(folder):
    """Writes a model of random weights, with the samples' words and MRPC."""
    import modeling

    config = modeling.load_config(FLAGS.bert_config_file)
    model = modeling.BertClassifier(config, 2, seed=1)
    model.build()
    path = Path(folder, "model")
    words = (rows.ROOT / "samples" / "vocab.txt").read_text().split("\n")
    words = words[: config.vocab_size]
    words += [f"[unused{n}]" for n in range(config.vocab_size - len(words))]
    vocab = Path(folder, "vocab.txt")
    vocab.write_text("\n".join(words) + "\n", encoding="utf-8")
    modeling.save_release(model, path, vocab, ["0", "1"])
    return path


def export(name, more, model_dir, mrpc_dir, folder):
    """Exports the model; returns the folder.

    ONNX has one length to a file: a file for each, in folders of that name.
    """
    path = Path(folder, name.replace(" ", "_").replace(",", ""))
    if more.get("export_format") == "onnx" and "export_seq_length" not in more:
        for length in sorted({length for _, length in SHAPES}):
            sized = more | {"export_seq_length": length}
            export(f"{name}/{length}", sized, model_dir, mrpc_dir, folder)
        return path
    given = {
        "task_name": "mrpc",
        "data_dir": mrpc_dir,
        "bert_config_file": model_dir,
        "init_checkpoint": model_dir,
        "vocab_file": Path(model_dir, "vocab.txt"),
        "do_lower_case": FLAGS.do_lower_case,
        "output_dir": f"{path}_run",
        "export_dir": path,
        **more,
    }
    done = subprocess.run(
        [
            sys.executable,
            str(rows.ROOT / "run_classifier.py"),
            *(f"--{flag}={value}" for flag, value in given.items()),
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    for line in done.stderr.splitlines():
        if "compute in int8" in line:
            race.say(f"  {name}: {line}")
    return path


def write_examples(model_dir, mrpc_dir, folder):
    """Writes MRPC's dev set as ids, and returns the path."""
    from data.classification import features, glue
    from data.text import tokenization

    tokenizer = tokenization.FullTokenizer(
        str(Path(model_dir, "vocab.txt")), FLAGS.do_lower_case
    )
    processor = glue.create_processors("mrpc")[""]
    encoded = list(
        features.convert_examples_to_features(
            processor.get_dev_examples(mrpc_dir),
            processor.get_labels(),
            128,
            tokenizer,
        )
    )
    path = Path(folder, "examples.npz")
    np.savez(
        path,
        input_ids=np.array([each.input_ids for each in encoded], "int32"),
        input_mask=np.array([each.input_mask for each in encoded], "int32"),
        segment_ids=np.array([each.segment_ids for each in encoded], "int32"),
        label_ids=np.array([each.label_id for each in encoded], "int32"),
    )
    return str(path)


def convert_for_torch(model_dir, folder):
    """Returns the model as a Hugging Face folder."""
    import modeling

    path = Path(folder, "huggingface")
    model = modeling.BertClassifier(modeling.load_config(model_dir), 2)
    modeling.load_checkpoint(model, model_dir)
    modeling.save_huggingface(model, path, ["0", "1"])
    return path


def start(folder, model_dir, mrpc_dir, examples):
    """Exports each form and starts its process; yields (name, contestant)."""
    forms = [(model_dir, *form) for form in FORMS]
    if student_dir := FLAGS.student_dir:
        forms += [
            (student_dir, f"student, {name}", runtime, *rest)
            for name, runtime, *rest in FORMS
            if runtime == "saved_model"
        ]
    for model_dir, name, runtime, module, precision, more in forms:
        if not importlib.util.find_spec(module):
            race.say(f"  {name}: {module} is not installed, left out")
            continue
        try:
            path = (
                convert_for_torch(model_dir, folder)
                if more is None
                else export(name, more, model_dir, mrpc_dir, folder)
            )
            spec = {
                "work": "latency",
                "variant": name,
                "runtime": runtime,
                "precision": precision,
                "path": str(path),
                "shapes": SHAPES,
                "examples": examples,
                "num_steps": FLAGS.num_steps,
                "warmup_steps": 1,
            }
            yield name, race.Contestant("runtime", spec, folder)
            race.say(f"  {name} is ready")
        except (RuntimeError, OSError) as error:
            race.say(f"  {name} FAILED:\n{error}")


def summarize(name, contestant, torch_milliseconds):
    """Returns the cells of a row."""
    notes = [reply["notes"] for reply in contestant.replies]
    cells = [name, f"{notes[0]['mib']:.1f}"]
    for rows_, length in SHAPES:
        shape = f"{rows_}x{length}"
        milliseconds = statistics.median(each[shape] for each in notes)
        cells.append(f"{milliseconds:.2f}")
        base = torch_milliseconds.get(shape)
        cells.append(f"{base / milliseconds:.2f}" if base else "")
    accuracy = notes[0].get("accuracy")
    return [*cells, "" if accuracy is None else f"{accuracy:.4f}"]


def main(_):
    """Exports, times and prints the table."""
    with tempfile.TemporaryDirectory() as folder:
        model_dir = FLAGS.model_dir or create_model_dir(folder)
        mrpc_dir = FLAGS.mrpc_dir or str(rows.ROOT / "samples" / "glue")
        examples = (
            write_examples(model_dir, mrpc_dir, folder)
            if FLAGS.model_dir
            else None
        )
        started = dict(start(folder, model_dir, mrpc_dir, examples))
        if (busy := race.busy_processors()) > 0.2:
            race.say(f"OTHER WORK keeps {busy:.1f} processors busy")
        try:
            for _ in range(FLAGS.repeats):
                for each in started.values():
                    each.repeat()
        finally:
            for each in started.values():
                each.close()
    torch = started.get("torch float32")
    base = {}
    if torch:
        base = {
            shape: statistics.median(
                reply["notes"][shape] for reply in torch.replies
            )
            for shape in (f"{rows_}x{length}" for rows_, length in SHAPES)
        }
    columns = [f"{a} x {b}" for a, b in SHAPES]
    print(
        "| form | MiB | "
        + " | ".join(f"{column}, ms | x torch" for column in columns)
        + " | accuracy |"
    )
    print("|" + "---|" * (3 + 2 * len(columns)))
    for name, contestant in started.items():
        print(f"| {' | '.join(summarize(name, contestant, base))} |")
    versions = next(iter(started.values())).ready["versions"] if started else {}
    print(", ".join(f"{name} {versions[name]}" for name in sorted(versions)))


if __name__ == "__main__":
    define_flags()
    app.run(main)
