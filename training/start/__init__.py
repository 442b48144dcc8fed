"""What a command starts from: its flags, and the folder of its weights.

All of this is read and checked before any slow work:

    starting_point.py: `StartingPoint`: the flags, the weights' folder, its
        configuration and tokenizer
    flag_completion.py: completes the flags by what that folder states
    checks.py: checks files and weights before slow work
    teacher.py: loads the teacher
"""
