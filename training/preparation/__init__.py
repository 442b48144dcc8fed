"""What a command starts from: its flags, and the folder of its weights.

All of this is read before any slow work:

    starting_point.py: `StartingPoint`: the flags, the weights' folder, its
        configuration and tokenizer
    flag_completion.py: completes the flags by what that folder states
    resuming.py: compares a command with the one that began the run
    recorded_command.py: the command, without folders and machines
"""
