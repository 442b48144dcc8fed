"""Fine-tunes a model for a task, which is a `Task` of training/task.py.

Read them in this order:

    fine_tuning.py: `run`: trains, evaluates, predicts and exports
    fine_tuning_plan.py: plans the run before its model exists
    fine_tuning_evaluation.py: evaluates and predicts the sets
    fine_tuning_ending.py: what the run writes and logs at its end
    fine_tuning_export.py: exports the model
    export_scores.py: scores the export, and compares it with the model
"""
