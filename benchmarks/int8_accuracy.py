"""Accuracy that --quantize=int8 costs, over tasks and seeds, as a table.

    make bench-int8 CHECKPOINT=DIR GLUE_DIR=DIR SQUAD_DIR=DIR CONLL_DIR=DIR

fine-tunes --checkpoint (a folder with a checkpoint of either format, its
configuration and vocab.txt) on each task that there is data for, with each
seed, and evaluates every run in float32 and in int8. A task passes if int8's
mean over the seeds is at most 0.5 points below float32's; the exit status is
1 where one does not. Runs are kept in --output_dir: the same command resumes.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

from absl import app, flags

ROOT = Path(__file__).resolve().parent.parent
FLAGS = flags.FLAGS

# Points of 100 that int8 may lose.
LIMIT = 0.5


def define_flags():
    """Defines the flags."""
    flags.DEFINE_string("checkpoint", None, "Folder of the model to fine-tune.")
    flags.DEFINE_string("glue_dir", None, "Folder of MRPC, SST-2 and STS-B.")
    flags.DEFINE_string("squad_dir", None, "Folder of SQuAD v1.1's files.")
    flags.DEFINE_string("conll_dir", None, "Folder of CoNLL-2003's files.")
    flags.DEFINE_integer("num_seeds", 3, "Trainings of each task.", 1)
    flags.DEFINE_integer("num_questions", 1000, "SQuAD's: trained on 5 times.")
    flags.DEFINE_bool("do_lower_case", True, "As the checkpoint was trained.")
    flags.DEFINE_list("ranges", ["dynamic"], "Also static, to measure both.")
    flags.DEFINE_enum(
        "train_precision",
        "float32",
        ["float32", "bfloat16"],
        "Precision to fine-tune in; what is compared computes in float32.",
    )
    flags.DEFINE_string(
        "output_dir", "output/int8_accuracy", "Folder of the runs."
    )
    flags.mark_flag_as_required("checkpoint")


def create_tasks():
    """Returns {task: (script, figure, its factor to points, flags)}."""
    tasks = {}
    glue = FLAGS.glue_dir and Path(FLAGS.glue_dir)
    for name, folder, figure in (
        ("mrpc", "MRPC", "f1"),
        ("sst-2", "SST-2", "eval_accuracy"),
        ("sts-b", "STS-B", "spearman"),
    ):
        if glue and (glue / folder).is_dir():
            given = {"task_name": name, "data_dir": glue / folder}
            tasks[name] = ("run_classifier.py", figure, 100.0, given)
    if FLAGS.squad_dir:
        given = {"train_file": first(5), "predict_file": first(1)}
        given |= {"max_seq_length": 384, "trim_padding": True}
        tasks["squad"] = ("run_squad.py", "f1", 1.0, given)
    if FLAGS.conll_dir:
        given = {"data_dir": FLAGS.conll_dir}
        tasks["conll"] = ("run_ner.py", "f1", None, given)
    return tasks


def first(times):
    """Writes SQuAD's first questions, of its train or dev set; the path."""
    name = "train" if times > 1 else "dev"
    source = Path(FLAGS.squad_dir, f"{name}-v1.1.json")
    path = Path(FLAGS.output_dir, f"squad_{name}.json")
    content = json.loads(source.read_text(encoding="utf-8"))
    left, articles = times * FLAGS.num_questions, []
    for article in content["data"]:
        paragraphs = []
        for paragraph in article["paragraphs"]:
            paragraph["qas"] = paragraph["qas"][:left]
            left -= len(paragraph["qas"])
            if paragraph["qas"]:
                paragraphs.append(paragraph)
        if paragraphs:
            articles.append(article | {"paragraphs": paragraphs})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content | {"data": articles}))
    return path


def run(script, given):
    """Runs a script."""
    given = {
        "bert_config_file": FLAGS.checkpoint,
        "vocab_file": Path(FLAGS.checkpoint, "vocab.txt"),
        "do_lower_case": FLAGS.do_lower_case,
        "init_checkpoint": FLAGS.checkpoint,
        "summary_steps": 0,
        "keep_checkpoint_max": 1,
        **given,
    }
    arguments = [f"--{name}={value}" for name, value in given.items()]
    subprocess.run([sys.executable, str(ROOT / script), *arguments], check=True)


def evaluate(script, figure, given):
    """Returns a figure of a script's evaluation."""
    # run_squad.py evaluates what it predicts.
    mode = "do_predict" if script == "run_squad.py" else "do_eval"
    run(script, given | {mode: True})
    path = Path(given["output_dir"], "eval_results.txt")
    lines = path.read_text().splitlines()
    return float(dict(line.split(" = ") for line in lines)[figure])


def measure(name, script, figure, factor, given):
    """Returns {"float32" or a kind of ranges: points of each seed}."""
    points = {kind: [] for kind in ("float32", *FLAGS.ranges)}
    for seed in range(1, FLAGS.num_seeds + 1):
        folder = Path(FLAGS.output_dir, name, str(seed))
        given = given | {"output_dir": folder, "seed": seed}
        precision = {"mixed_precision": FLAGS.train_precision}
        run(script, given | precision | {"do_train": True})
        points["float32"].append(evaluate(script, figure, given))
        for kind in FLAGS.ranges:
            quantized = {"quantize": "int8", "quantize_ranges": kind}
            points[kind].append(evaluate(script, figure, given | quantized))
    if factor is None:
        # conlleval's figures are shares or percent.
        factor = 1.0 if max(points["float32"]) > 1 else 100.0
    return {
        kind: [factor * value for value in values]
        for kind, values in points.items()
    }


def main(_):
    """Measures all tasks, and prints the table."""
    rows, passed = [], True
    for name, (script, figure, factor, given) in create_tasks().items():
        points = measure(name, script, figure, factor, given)
        exact = statistics.mean(points["float32"])
        for kind in FLAGS.ranges:
            lost = exact - statistics.mean(points[kind])
            passed &= lost <= LIMIT
            seeds = ", ".join(
                f"{one:.2f} -> {other:.2f}"
                for one, other in zip(
                    points["float32"], points[kind], strict=True
                )
            )
            rows.append(
                f"| {name} | {figure} | {kind} | {exact:.2f} | "
                f"{exact - lost:.2f} | {-lost:+.2f} | {seeds} | "
                f"{'yes' if lost <= LIMIT else 'NO'} |"
            )
    print(
        "| task | figure | ranges | float32 | int8 | change | seeds | holds |"
    )
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))
    if not rows:
        print("No data: give --glue_dir, --squad_dir or --conll_dir")
    return int(not (rows and passed))


if __name__ == "__main__":
    define_flags()
    app.run(main)
