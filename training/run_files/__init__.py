"""The folder of a run: what it records.

The checkpoints in the folder are loop/checkpointer.py's:

    run_folder.py: `RunFolder`, which writes all but the checkpoints
    run_description.py: model.json, and the files that it lists
    history.py: the metrics, steps and hours of a run
    fingerprints.py: tells inputs apart by their checksums
"""
