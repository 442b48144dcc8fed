"""The seconds from the start of run_classifier.py to its first step."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.contestants import worker

FIRST_STEP = "Training step 1/"


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


if __name__ == "__main__":
    worker.serve({"startup": startup}, dict)
