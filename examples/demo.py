"""Trains BERT on the small data sets in samples/, in minutes on a CPU.

Runs all training scripts with the README's commands, from raw text to a
pretrained model, fine-tuned models and SavedModels. Then loads a SavedModel and
asks it a question. Writes all files to output/demo, including the complete log
of each script.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SAMPLES = Path("examples/samples")
OUTPUT = Path("output/demo")
# If OUTPUT contains this file, an earlier demo created OUTPUT, so this demo may
# delete it.
MARKER = OUTPUT / "made_by_the_demo.txt"

VOCAB = OUTPUT / "vocab.txt"
CONFIG = OUTPUT / "bert_config.json"
PRETRAINED = OUTPUT / "pretraining"
CORPUS = SAMPLES / "corpus.txt"

MODEL = f"--bert_config_file={CONFIG} --vocab_file={VOCAB} --max_seq_length=64"
TUNED = f"""
    {MODEL} --init_checkpoint={PRETRAINED}/model.ckpt-1000
    --do_train --do_predict --train_batch_size=16 --report
"""
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
    run_pretraining.py {MODEL} --input_file={OUTPUT}/corpus.tfrecord-*
    --eval_input_file={OUTPUT}/eval-corpus.tfrecord --eval_steps=200
    --output_dir={PRETRAINED} --do_train --do_eval
    --max_predictions_per_seq=10 --num_train_steps=1000
    --num_warmup_steps=100 --learning_rate=1e-3
    --export_dir={OUTPUT}/pretrained_model
""".split()
CLASSIFY = f"""
    run_classifier.py {TUNED} --task_name=mrpc --data_dir={SAMPLES}/glue
    --output_dir={OUTPUT}/classifier --do_eval --learning_rate=2e-4
    --num_train_epochs=10 --export_dir={OUTPUT}/classifier_model
""".split()
ANSWER = f"""
    run_squad.py {TUNED} --train_file={SAMPLES}/squad/train.json
    --predict_file={SAMPLES}/squad/dev.json --output_dir={OUTPUT}/squad
    --max_query_length=20 --doc_stride=20 --learning_rate=3e-4
    --num_train_epochs=12 --export_dir={OUTPUT}/squad_model
""".split()
EXTRACT = f"""
    extract_features.py {MODEL} --input_file={OUTPUT}/lines.txt
    --output_file={OUTPUT}/features.jsonl --layers=-1
    --init_checkpoint={PRETRAINED}/model.ckpt-1000
    --export_dir={OUTPUT}/encoder_model
""".split()
PLOT = f"""
    -m tools.plot_runs --runs={PRETRAINED} --output={OUTPUT}/curves.png
""".split()

# The demo prints only the log lines of the scripts that match this pattern.
SHOWN = re.compile(
    r" (step|batch|document|instance) \d|written|Saved|Wrote|error:"
)


def run(command):
    """Runs a script, prints its progress and writes its log to a file.

    Args:
        command: list of str, Python's arguments that run the script.

    Raises:
        SystemExit: the script failed. The message contains the end of the log.
    """
    print(f"\n$ python {' '.join(command)}", flush=True)
    name = next(part for part in command if part != "-m")
    log = OUTPUT / f"{name.removeprefix('tools.').removesuffix('.py')}.log"
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
            if SHOWN.search(line):
                print(f"  {line.rstrip()}", flush=True)
    if process.returncode:
        sys.exit(f"{name} failed; {log} ends:\n{''.join(lines[-20:])}")


def read_results(name):
    """Returns the results in the eval_results.txt of a run, {name: value}.

    `name` is the run's folder in OUTPUT.
    """
    lines = (OUTPUT / name / "eval_results.txt").read_text().splitlines()
    return {key: float(value) for key, value in (x.split(" = ") for x in lines)}


def main():
    """Runs all scripts and prints their results."""
    started = time.monotonic()
    # The paths in the README's commands are relative to this folder.
    os.chdir(ROOT)
    if OUTPUT.exists() and not MARKER.is_file():
        sys.exit(
            f"error: {OUTPUT} contains files that the demo did not write; move "
            "it away"
        )
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir(parents=True)
    MARKER.write_text("The next `make demo` removes this folder.\n")
    corpus = CORPUS.read_text(encoding="utf-8").splitlines()
    (OUTPUT / "lines.txt").write_text("\n".join(corpus[:3]) + "\n")
    run(CREATE_VOCABULARY)
    config = json.loads((SAMPLES / "bert_config.json").read_text())
    config["vocab_size"] = len(VOCAB.read_text("utf-8").splitlines())
    CONFIG.write_text(json.dumps(config, indent=2) + "\n")
    for command in (CREATE_DATA, PRETRAIN, CLASSIFY, ANSWER, EXTRACT):
        run(command)
    drawn = "not drawn: pip install -r requirements/plot.txt"
    if importlib.util.find_spec("matplotlib"):
        run(PLOT)
        drawn = "curves of pretraining"
    show_results(time.monotonic() - started, drawn)


def show_results(seconds, drawn):
    """Prints the results of all scripts, and asks the SQuAD model a question.

    `seconds` is the time of all scripts. `drawn` describes curves.png.
    """
    from training.callbacks import history
    from training.command_line import chatter

    chatter.silence_tensorflow()
    import serving
    from data.squad import scoring

    pretraining = read_results("pretraining")
    classifier = read_results("classifier")
    # Such as "200: 0.310, 400: 0.452".
    curve = ", ".join(
        f"{line['step']}: {line['metrics']['masked_lm_accuracy']:.3f}"
        for line in history.read(PRETRAINED / history.FILE)
        if line["kind"] == "eval"
    )
    dev_file = SAMPLES / "squad" / "dev.json"
    scores = scoring.score_predictions(
        str(dev_file),
        json.loads((OUTPUT / "squad" / "predictions.json").read_text()),
    )
    dev = json.loads(dev_file.read_text())
    paragraph = dev["data"][0]["paragraphs"][0]
    question, context = paragraph["qas"][0]["question"], paragraph["context"]
    answer = serving.load(OUTPUT / "squad_model").answer(question, context)
    exported = sorted(OUTPUT.glob("*_model"))
    script, activate = Path(sys.prefix) / "bin" / "activate", ""
    if script.is_relative_to(ROOT):
        activate = f"  . {script.relative_to(ROOT)}\n"
    print(
        f"""
The demo wrote to {OUTPUT} ({seconds:.0f} s in all)
  vocab.txt            learned from the corpus
  corpus.tfrecord-*    pretraining instances
  eval-corpus.tfrecord instances of held-out documents
  pretraining/         masked LM accuracy \
{pretraining["masked_lm_accuracy"]:.3f}, next sentence accuracy \
{pretraining["next_sentence_accuracy"]:.3f} (on held-out documents;
                       the corpus is too small to learn much from)
  curves.png           {drawn}; masked LM accuracy
                       after steps {curve}
  classifier/          dev accuracy {classifier["eval_accuracy"]:.3f}; \
report.html shows its errors
  squad/               dev exact match {scores["exact_match"]:.1f}, \
F1 {scores["f1"]:.1f}; report.html shows the answers
  features.jsonl       vectors of the corpus' first lines
  *_model/             SavedModels; squad_model was loaded again and asked:
    {context}
    {question}
    -> {answer["answer"]}

Try all models in a browser, at http://127.0.0.1:8501 (Ctrl-C stops the server):
{activate}  pip install -r requirements/serve.txt
  python serve.py {" ".join(f"--model={path}" for path in exported)}"""
    )


if __name__ == "__main__":
    main()
