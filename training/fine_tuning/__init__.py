"""Runs a `FineTuningTask`, from the first check to the last line of the log.

    flow.py: `fine_tune`: all stages of a command, and how it ends
    encoded_sets.py: reads the sets, writes their records, and identifies them
    plan.py: what the run trains and records, and what a resumed run must keep
    dev_set_scores.py: scores of a dev set, by the outputs of its records
    fine_tuner.py: `FineTuner`: trains, evaluates and predicts the sets
    checked_export.py: exports the model, unless the export scores much lower

training/task.py says what a task is. What pretraining needs too is in
training/loop/, and what refuses a command is in training/preparation/.
"""
