"""Turns the flags of a command into a `Config`, and shows help and errors.

What a command shows and hears while it runs is in terminal/.

A script declares its flags as a `Config`, and the main call is `cli.run`.
Nothing here loads TensorFlow, so that --help and wrong flags show quickly.

Where a flag is declared:

    flags.py: a flag is a field of a dataclass, a group is a dataclass of flags
    path_flags.py: flags whose values are paths: their kinds, and the check that
        no output overlaps an input or another output
    flag_metadata.py: what the field of a flag or of a group records, such as
        the `Role` of a flag, which a trained model imposes on its values
    declared_flags.py: the flags that a `Config` declares

Where a command line becomes a `Config`:

    cli.py: `run`, from the command line to the exit status. An error in the
        command line ends the script
    flag_parsing.py: defines the flags with absl, and returns the `Config`
    beam_flags.py: parses the flags of Apache Beam on the same command line
    config_values.py: reads and changes the values of a `Config`

What it shows to the user:

    help_pages.py: prints --help and --helpfull
    user_errors.py: decides whether an error is the user's or a bug
"""
