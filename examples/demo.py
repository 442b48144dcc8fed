"""Trains BERT on the data in samples/, in one to two minutes on a CPU.

Runs the scripts that lead from raw text to a pretrained model, to two
fine-tuned models, and to a SavedModel that answers a question. Writes all files
to output/demo, including the complete log of each script.
"""

import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = Path("examples/samples")
OUTPUT = Path("output/demo")
# If OUTPUT contains this file, an earlier demo created OUTPUT, so this demo may
# delete it.
MARKER = OUTPUT / "made_by_the_demo.txt"

VOCAB = OUTPUT / "vocab.txt"
CONFIG = OUTPUT / "bert_config.json"
PRETRAINED = OUTPUT / "pretraining"
CORPUS = SAMPLES / "corpus.txt"

# This network learns within some hundred steps, because it is narrow, starts
# with large weights and has no dropout.
NETWORK = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 256,
    "max_position_embeddings": 128,
    "type_vocab_size": 2,
    "hidden_act": "gelu",
    "initializer_range": 0.05,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
CREATE_VOCABULARY = f"""
    -m tools.create_vocabulary --input_file={CORPUS} --output_file={VOCAB}
    --vocab_size=1600
""".split()
CREATE_DATA = f"""
    create_pretraining_data.py --input_file={CORPUS} --vocab_file={VOCAB}
    --output_file={OUTPUT}/corpus.tfrecord --max_seq_length=64
    --max_predictions_per_seq=10 --dupe_factor=10 --eval_fraction=0.1
""".split()
PRETRAIN = f"""
    run_pretraining.py --bert_config_file={CONFIG} --vocab_file={VOCAB}
    --input_file={OUTPUT}/corpus.tfrecord-* --output_dir={PRETRAINED}
    --eval_input_file={OUTPUT}/eval-corpus.tfrecord --do_train --do_eval
    --max_seq_length=64 --max_predictions_per_seq=10 --num_train_steps=100
    --num_warmup_steps=10 --learning_rate=2e-3 --bias_correction
""".split()
TUNE = f"""
    --init_checkpoint={PRETRAINED} --do_train --do_predict --report
    --train_batch_size=16 --bias_correction
"""
CLASSIFY = f"""
    run_classifier.py {TUNE} --task_name=mrpc --data_dir={SAMPLES}/glue
    --output_dir={OUTPUT}/classifier --do_eval --max_seq_length=40
    --notrim_padding --learning_rate=1e-3 --num_train_epochs=6
""".split()
ANSWER = f"""
    run_squad.py {TUNE} --train_file={SAMPLES}/squad/train.json
    --predict_file={SAMPLES}/squad/dev.json --output_dir={OUTPUT}/squad
    --max_seq_length=64 --max_query_length=20 --doc_stride=20
    --learning_rate=2e-3 --num_train_epochs=12
    --export_dir={OUTPUT}/squad_model
""".split()
QUESTION = "To which town does the Old Lamp belong?"
PASSAGE = (
    "The Old Lamp is a small boat that belongs to Marré. Her crew is made up "
    "of five people. Both of her sides are brown. She is used to catch eels."
)
ASK = ["predict.py", f"--model={OUTPUT}/squad_model", QUESTION, PASSAGE]

# The demo prints only the log lines of the scripts that match this pattern.
SHOWN_LINE = re.compile(r" (step|batch|document) \d|written|Saved|Wrote|error:")


def run(command):
    """Runs a script, prints its progress and writes its log to a file.

    Args:
        command: list of str, Python's arguments that run the script.

    Returns:
        The lines that the script printed, list of str.

    Raises:
        SystemExit: the script failed. The message contains the end of the log.
    """
    print(f"\n$ python {shlex.join(command)}", flush=True)
    name = command[1] if command[0] == "-m" else command[0]
    name = name.removeprefix("tools.").removesuffix(".py")
    log = OUTPUT / f"{name}.log"
    with (
        log.open("w", encoding="utf-8") as writer,
        subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        lines = []
        for line in process.stdout:
            lines.append(line)
            writer.write(line)
            if SHOWN_LINE.search(line):
                print(f"  {name}: {line.rstrip()}", flush=True)
    if process.returncode:
        sys.exit(f"{name} failed; {log} ends:\n{''.join(lines[-20:])}")
    return lines


def read_results(name):
    """Returns the results in the eval_results.txt of a run, {name: value}.

    `name` is the run's folder in OUTPUT.
    """
    lines = (OUTPUT / name / "eval_results.txt").read_text().splitlines()
    entries = (line.split(" = ") for line in lines)
    return {name: float(value) for name, value in entries}


def create_output():
    """Creates OUTPUT, and removes what an earlier demo wrote there.

    Raises:
        SystemExit: OUTPUT contains files of somebody else.
    """
    if OUTPUT.exists() and not MARKER.is_file():
        sys.exit(
            f"error: {OUTPUT} contains files that the demo did not write; move "
            "it away"
        )
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir(parents=True)
    MARKER.write_text("The next `make demo` removes this folder.\n")


def train():
    """Learns a vocabulary, pretrains a network and fine-tunes it twice."""
    run(CREATE_VOCABULARY)
    vocab_size = len(VOCAB.read_text("utf-8").splitlines())
    CONFIG.write_text(json.dumps({**NETWORK, "vocab_size": vocab_size}))
    run(CREATE_DATA)
    run(PRETRAIN)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        # Both fine-tunings run at the same time.
        list(pool.map(run, [CLASSIFY, ANSWER]))


def ask():
    """Returns the answer of the exported model to QUESTION."""
    (line,) = (line for line in run(ASK) if line.startswith("{"))
    return json.loads(line)["answer"]


def print_summary(answer):
    """Prints what the demo wrote, its results, and what to try next."""
    pretraining = read_results("pretraining")
    classifier = read_results("classifier")
    squad = read_results("squad")
    python = os.path.relpath(sys.executable)
    used = os.times()
    print(
        f"""
The demo wrote to {OUTPUT} ({used.children_user + used.children_system:.0f} s \
of processor time in all)
  vocab.txt            learned from the corpus
  corpus.tfrecord-*    pretraining instances
  eval-corpus.tfrecord instances of held-out documents
  pretraining/         masked LM accuracy \
{pretraining["masked_lm_accuracy"]:.3f}, next sentence accuracy \
{pretraining["next_sentence_accuracy"]:.3f} (on held-out documents;
                       the corpus is too small to learn much from)
  classifier/          dev accuracy {classifier["eval_accuracy"]:.3f}; \
report.html shows its errors
  squad/               dev exact match {squad["exact_match"]:.1f}, \
F1 {squad["f1"]:.1f}; report.html shows the answers
  squad_model/         SavedModel of squad/, which predict.py loaded and asked:
    {PASSAGE}
    {QUESTION}
    -> {answer}

Try it in a browser, at http://127.0.0.1:8501 (Ctrl-C stops the server):
  {python} -m pip install -r requirements/serve.txt
  {python} serve.py --model={OUTPUT}/squad_model"""
    )


def main():
    """Runs all scripts and prints their results."""
    # The paths in the commands are relative to this folder.
    os.chdir(ROOT)
    # One thread is fastest for so small a network.
    os.environ["TF_NUM_INTRAOP_THREADS"] = "1"
    create_output()
    train()
    print_summary(ask())


if __name__ == "__main__":
    main()
