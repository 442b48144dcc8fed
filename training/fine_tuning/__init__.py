"""Fine-tunes a model for a task, which is a `Task` of training/task.py.

Read them in this order:

    fine_tuning.py: `run`: trains, evaluates, predicts and exports
    plan.py: plans the run before its model exists
    evaluation.py: evaluates and predicts the sets
    ending.py: what the run writes and logs at its end
"""
