"""Trains any task: from a command to the folder of a run.

What a command starts from:

    training_config.py: the flags of every run
    fine_tuning_config.py: those of fine-tuning
    pretraining_config.py: those of pretraining
    start.py: `StartingPoint`: the flags, the weights' folder, its configuration
        and tokenizer
    checks.py: checks files and weights before slow work
    sets/: which rows are the dev set, and whether to trust its scores

The two flows, from their first to their last step:

    task.py: `Task`, what a fine-tuning task is
    fine_tuning.py: trains, evaluates, predicts and exports a task
    fine_tuning_plan.py: plans a fine-tuning before its model exists
    fine_tuning_evaluation.py: evaluates and predicts the sets of a task
    fine_tuning_end.py: what fine-tuning writes and logs at its end
    pretraining.py: trains and evaluates on records
    pretraining_records.py: finds the records, and checks them
    pretraining_plan.py: plans a pretraining before its model exists
    pretraining_evaluation.py: computes the metrics of pretraining
    pretraining_end.py: what pretraining writes and logs at its end
    flow.py: the steps that both share

What the steps call:

    teacher.py: loads the teacher
    loop/: steps, callbacks, evaluations, checkpoints
    optimizers/: AdamW, LAMB, learning rates
    run/: what a run leaves in its folder
    exporting.py: exports the model
    export_scores.py: scores the export, and compares it with the model
    tasks/: the fine-tuning tasks, which only scripts import
"""
