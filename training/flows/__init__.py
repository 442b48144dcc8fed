"""The two flows of a command, from its checks to its last line of the log.

Fine-tuning a `Task` (training/task.py):

    fine_tuning.py: `fine_tune`: all steps of a command, and how it ends
    task_checks.py: checks the task before slow work
    encoded_sets.py: reads the sets, writes their records, and identifies them
    fine_tuning_plan.py: `plan_fine_tuning`: the steps, and what is recorded
    fine_tuner.py: `FineTuner`: trains, evaluates and predicts the sets
    eval_loss.py: `LossAccumulator`: the loss of a dev set
    fine_tuning_export.py: exports the model, and compares its scores
    export_evaluation.py: scores each format of the export

Pretraining on the records of create_pretraining_data.py:

    pretraining.py: `pretrain`: all steps of a command, and how it ends
    pretraining_records.py: finds the records, and checks them
    pretraining_plan.py: `plan_pretraining`: the steps, and what is recorded
    pretraining_evaluation.py: `PretrainingEvaluator`: Google's metrics

The steps of both flows, in their order:

    teacher.py: loads the teacher
    run_plan.py: `RunPlan`: what a command will train and record
    run_opening.py: `open_run`: the run that the plan says, with its weights
    trainer_creation.py: creates its model and its Trainer
    run_ending.py: stores, exports and logs what was trained

The dev set of a fine-tuning is checked by training/dev_set/.
"""
