"""The steps of fine-tuning.

flows/fine_tuning.py runs them in this order:

    encoded_sets.py: reads the sets, writes their records, and describes them
        for model.json
    dev_set_check.py: compares the dev set with what the weights were trained on
    fine_tuning_plan.py: plans the run before its model exists
    train_set_check.py: compares the train set with that of the run to resume
    fine_tuning_evaluation.py: evaluates and predicts the sets
    fine_tuning_ending.py: what the run writes and logs at its end
    export.py: exports the model
    export_scores.py: scores the export, and compares it with the model
"""
