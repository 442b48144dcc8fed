"""Trains any task: from a command to the folder of a run.

Each part imports only parts that this list names before it.

What a command knows before it trains:

    config/: the flags of a run, of fine-tuning and of pretraining
    dev_set/: which rows are the dev set, and whether its scores may be trusted
    starting_point.py: `StartingPoint`: the flags, with the network, the
        tokenizer and the settings that are in the folder of the weights
    task.py: `FineTuningTask`, what a fine-tuning task is
    preparation/: decides the flags, loads the `StartingPoint`, and checks both
        before any slow work
    tasks/: the fine-tuning tasks, which only scripts import

What trains:

    optimizers/: AdamW, LAMB, learning rates
    run_files/: the files of a run, such as its checkpoints and its history
    loop/: the `Trainer` of a run and its loading, the loop over its steps, and
        what both flows do at the end

The two flows, from their first to their last step:

    fine_tuning/: `fine_tune` trains a `FineTuningTask`
    pretraining/: `pretrain` trains on records

What does not train, but runs a network with the same flags and devices:

    extraction/: the vectors of texts, for extract_features.py

A run is what one or several commands train in one --output_dir.
"""
