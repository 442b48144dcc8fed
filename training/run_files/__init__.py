"""Reads and writes the files in the folder of a run.

Read the modules in this order:

    run_folder.py: `RunFolder`: the folder, and all in it but the checkpoints
    result_files.py: `ResultFiles`: the files of scores
    checkpointer.py: saves, restores, removes and links checkpoints
    model_description.py: model.json, and the files that it lists
    settings_creation.py: the settings in model.json that a resumed run must
        keep
    input_fingerprints.py: the fingerprints of a training's input files
    history.py: `History`: the metrics, steps and hours of a run, in
        history.jsonl
    tensorboard_writer.py: the same metrics for TensorBoard
    best_step.py: `BestStep`: the step with the best scores so far, and whether
        the next one must beat it
"""
