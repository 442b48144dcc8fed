"""The seconds from the start of a script to the first thing it does."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.contestants import worker

FIRST_STEP = "Training step 1 of "


def startup(spec):
    """Starts the script on the samples, and ends it after the first step."""
    # The sizes of the model, with the vocabulary of the samples.
    config = json.loads(Path(spec["bert_config_file"]).read_text())
    vocab = Path("samples/vocab.txt").read_text().splitlines()
    config_file = os.path.join(spec["folder"], "bert_config.json")
    Path(config_file).write_text(
        json.dumps(config | {"vocab_size": len(vocab)})
    )

    def repeat(_):
        folder = tempfile.mkdtemp(dir=spec["folder"])
        process = subprocess.Popen(
            [
                sys.executable,
                "run_classifier.py",
                "--do_train",
                "--task_name=mrpc",
                "--data_dir=samples/glue",
                "--vocab_file=samples/vocab.txt",
                f"--bert_config_file={config_file}",
                f"--output_dir={folder}",
                f"--max_seq_length={spec['seq_length']}",
                f"--train_batch_size={spec['batch_size']}",
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        lines = []
        for line in process.stderr:
            lines.append(line)
            if FIRST_STEP in line:
                break
        process.kill()
        process.communicate()
        if not lines or FIRST_STEP not in lines[-1]:
            raise RuntimeError("".join(lines))

    return worker.Work(repeat, spec["batch_size"])


def predict(spec):
    """Starts predict.py on an exported MiniLM; ends after the first answer."""
    import modeling
    import serving

    folder = Path(spec["minilm_dir"])
    path = os.path.join(spec["folder"], "model")
    model = modeling.BertClassifier(
        modeling.load_config(folder / "config.json"), 2
    )
    model.build()
    options = serving.ServingOptions(folder / "vocab.txt")
    serving.export_classifier(path, model, ["no", "yes"], options)

    def repeat(_):
        done = subprocess.run(
            [sys.executable, "predict.py", f"--model={path}"],
            input='{"text": "The river is blue."}\n',
            capture_output=True,
            text=True,
        )
        if '"label"' not in done.stdout:
            raise RuntimeError(done.stderr)

    return worker.Work(repeat, 1)


if __name__ == "__main__":
    worker.serve({"startup": startup, "predict": predict}, dict)
