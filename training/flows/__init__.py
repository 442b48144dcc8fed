"""The two flows of a command, from its checks to its last line of the log.

Fine-tuning, of a `Task` (training/task.py):

    fine_tuning.py: `run`: trains, evaluates, predicts and exports
    fine_tuning_plan.py: plans the run before its model exists
    fine_tuning_evaluation.py: evaluates and predicts the sets
    fine_tuning_ending.py: what the run writes and logs at its end
    fine_tuning_export.py: exports the model
    export_scores.py: scores the export, and compares it with the model

Pretraining, on the records of create_pretraining_data.py:

    pretraining.py: `run`: trains, evaluates and exports
    pretraining_records.py: finds the records, and checks them
    pretraining_plan.py: plans the run before its model exists
    pretraining_evaluation.py: computes the metrics
    pretraining_ending.py: what the run writes and logs at its end

What both share, in the order in which they use it:

    checks.py: checks files and the task before slow work
    teacher.py: loads the teacher
    run_plan.py: `RunPlan`: what a flow plans before its model exists
    trainer_setup.py: creates the model and the Trainer, and loads the weights
    run_ending.py: scores, stores and logs what was trained
"""
