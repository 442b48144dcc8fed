"""Pretrains a model on the records of create_pretraining_data.py.

Read them in this order:

    pretraining.py: `run`: trains, evaluates and exports
    pretraining_records.py: finds the records, and checks them
    pretraining_plan.py: plans the run before its model exists
    pretraining_evaluation.py: computes the metrics
    pretraining_ending.py: what the run writes and logs at its end
"""
