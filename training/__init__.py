"""Trains any task: from a command to the folder of a run.

What a command starts from:

    config/: the flags of a run, of fine-tuning and of pretraining
    start/: `StartingPoint`: the flags, completed by the folder of the weights
    sets/: which rows are the dev set, and whether to trust its scores

The two flows, from their first to their last step:

    task.py: `Task`, what a fine-tuning task is
    flows/: train, evaluate, predict and export a task, or pretrain on records

What the steps call:

    loop/: steps, callbacks, evaluations, checkpoints
    optimizers/: AdamW, LAMB, learning rates
    run/: what a run leaves in its folder
    tasks/: the fine-tuning tasks, which only scripts import
"""
