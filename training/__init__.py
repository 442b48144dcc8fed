"""Trains any task: from a command to the folder of a run.

What a command starts from:

    training_config.py: the flags of every run
    fine_tuning_config.py: those of fine-tuning
    pretraining_config.py: those of pretraining
    start.py: `StartingPoint`: the flags, the weights' folder, its configuration
        and tokenizer
    flag_completion.py: completes the flags by what that folder states
    checks.py: checks files and weights before slow work
    teacher.py: loads the teacher
    sets/: which rows are the dev set, and whether to trust its scores

The two flows, from their first to their last step:

    task.py: `Task`, what a fine-tuning task is
    fine_tuning/: trains, evaluates, predicts and exports a task
    pretraining/: trains and evaluates on records
    beginning.py: the first steps of both, until the weights are loaded
    ending.py: the last steps of both: they score, store and log

What the steps call:

    loop/: steps, callbacks, evaluations, checkpoints
    optimizers/: AdamW, LAMB, learning rates
    run/: what a run leaves in its folder
    run_export.py: exports the model
    export_scores.py: scores the export, and compares it with the model
    tasks/: the fine-tuning tasks, which only scripts import
"""
