"""Pretrains a model on the records of create_pretraining_data.py.

Read them in this order:

    pretraining.py: `run`: trains, evaluates and exports
    records.py: finds the records, and checks them
    plan.py: plans the run before its model exists
    evaluation.py: computes the metrics
    ending.py: what the run writes and logs at its end
"""
