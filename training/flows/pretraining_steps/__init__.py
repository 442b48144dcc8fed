"""The steps of pretraining.

flows/pretraining.py runs them in this order:

    records.py: finds the records, and checks that they fit the flags
    plan.py: plans the run before its model exists
    evaluation.py: computes Google's metrics, and the loss
    ending.py: what the run writes and logs at its end
"""
