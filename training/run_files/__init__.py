"""What a run writes to its folder, beside its checkpoints.

loop/checkpointer.py writes the checkpoints:

    run_folder.py: `RunFolder`, which writes all but the checkpoints
    run_description.py: model.json, and the files that it lists
    history.py: the metrics, steps and hours of a run
    fingerprints.py: tells inputs apart by their checksums
"""
