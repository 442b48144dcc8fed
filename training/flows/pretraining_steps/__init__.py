"""The steps of pretraining.

flows/pretraining.py runs them in this order:

    records.py: finds the records, and checks that they fit the flags
    pretraining_plan.py: plans the run before its model exists
    pretraining_evaluation.py: computes Google's metrics, and the loss
    pretraining_ending.py: what the run writes and logs at its end
"""
