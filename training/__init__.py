"""Trains and evaluates models on any task (see docs/architecture.md)."""

from files import run_files

# Register the names of a run's files here, not in the modules that write them.
# Those modules import TensorFlow, and the flags are checked against these names
# before TensorFlow is imported.
run_files.register(
    *("model.ckpt-*.index", "model.ckpt-*.data-*", "checkpoint"),
    *("events.out.*", "history.jsonl", "model.json"),
    *("train.tf_record", "eval*.tf_record"),
    *("predict*.tf_record", "eval_results.txt", "eval_results.json"),
    "export_eval_results.txt",
    *("labels.txt", "input_checksums.json"),
)
run_files.register("test_eval_results*.txt", "report*.html", are_results=True)
