"""Trains any task: from a command to the folder of a run.

Each part imports only parts that this list names before it.

What a command knows before it trains:

    config/: the flags of a run, of fine-tuning and of pretraining
    dev_set/: whether the scores on a dev set may be trusted
    starting_point.py: `StartingPoint`: the flags, with the network, the
        tokenizer and the settings that are in the folder of the weights
    task.py: `FineTuningTask`, what a fine-tuning task is
    checks/: what refuses a command before its first step
    preparation/: decides the flags, and creates the `StartingPoint`
    tasks/: the fine-tuning tasks, which only scripts import

What trains:

    optimizers/: AdamW, LAMB, learning rates
    run_files/: the files of a run, such as its weights and its history
    loop/: steps, callbacks, evaluations

The two flows, from their first to their last step:

    run/: plans, creates and ends the run of either flow
    fine_tuning/: `fine_tune` trains a `FineTuningTask`
    pretraining/: `pretrain` trains on records

Two words name the work before the model exists. To prepare is to find out what
a command starts from, before TensorFlow is loaded: preparation/ decides the
flags and creates the `StartingPoint`, and the setups in tasks/ open the sets of
a task. To plan is to decide what to train and record, after the sets were read:
each flow has a plan.py, which makes the `RunPlan`.

A run is what one or several commands train in one --output_dir. What it plans
and how it begins and ends is in run/, what its steps do in loop/, and all that
is in its folder in run_files/.
"""
