"""The steps of fine-tuning.

flows/fine_tuning.py runs them in this order:

    encoded_sets.py: reads the sets, writes their records, and describes them
        for model.json
    dev_set_check.py: compares the dev set with what the weights were trained on
    plan.py: plans the run before its model exists
    train_set_check.py: compares the train set with that of the run to resume
    evaluation.py: evaluates and predicts the sets
    ending.py: what the run writes and logs at its end
    export.py: exports the model
    export_scores.py: scores the export, and compares it with the model
"""
