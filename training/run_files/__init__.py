"""What a run writes to its folder, beside its checkpoints.

loop/checkpointer.py writes the checkpoints:

    run_folder.py: `RunFolder`, which writes all but the checkpoints, and its
        `RunResults`: the scores, and which files contain results
    run_description.py: model.json, and the files that it lists
    history.py: `History`: writes the metrics, steps and hours of a run, also
        for TensorBoard, and remembers the best step
    history_lines.py: the lines of its file
    fingerprints.py: tells inputs apart by their checksums
"""
