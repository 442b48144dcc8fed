"""The two flows of a command, from its checks to its last line of the log.

Each flow is a function `run`, which lists its steps.

Fine-tuning a `Task` (training/task.py):

    fine_tuning.py: `run`: trains, evaluates, predicts and exports
    encoded_sets.py: reads the sets, writes their records, and describes them
        for model.json
    fine_tuning_plan.py: plans the run before its model exists
    fine_tuning_run.py: `FineTuningRun`: trains, evaluates and predicts the sets
    fine_tuning_ending.py: the two ways in which a command ends
    fine_tuning_export.py: exports the model
    export_scores.py: scores the export, and compares it with the model

Pretraining on the records of create_pretraining_data.py:

    pretraining.py: `run`: trains, evaluates and exports
    pretraining_records.py: finds the records, and checks that they fit the
        flags
    pretraining_plan.py: plans the run before its model exists
    pretraining_evaluation.py: computes Google's metrics, and the loss
    pretraining_ending.py: what the run writes and logs at its end

The steps of both flows, in their order:

    checks.py: checks files and the task before slow work
    teacher.py: loads the teacher
    run_plan.py: `RunPlan`: what a flow plans before its model exists
    trainer_setup.py: creates the model and the Trainer of a run
    run_ending.py: scores, stores and logs what was trained
"""
