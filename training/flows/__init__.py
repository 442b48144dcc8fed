"""The two flows of a command, from its checks to its last line of the log.

Each flow is a function `run`, which lists its steps:

    fine_tuning.py: trains, evaluates, predicts and exports a `Task`
        (training/task.py)
    pretraining.py: trains on the records of create_pretraining_data.py,
        evaluates and exports

The steps are in these folders:

    fine_tuning_steps/: steps of fine-tuning only
    pretraining_steps/: steps of pretraining only
    shared_steps/: steps of both flows
"""
