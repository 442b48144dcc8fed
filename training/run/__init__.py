"""The folder of a run: what it records, and what a resume compares.

The checkpoints in the folder are loop/checkpointer.py's:

    run_folder.py: `RunFolder`, which writes all but the checkpoints
    run_description.py: model.json, and the files that it lists
    recorded_command.py: the command, without folders and machines
    history.py: the metrics, steps and hours of a run
    resuming.py: compares a command with the one that began the run
    fingerprints.py: tells inputs apart by their checksums
"""
