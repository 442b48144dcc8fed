"""Declares options: fields of dataclasses that may also be flags of a script.

A class of options is a plain frozen dataclass. Code of a library creates it and
reads it, without a command line:

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class WindowOptions:
        doc_stride: int = head_option(128, "Distance of windows.", at_least=1)

    def split_windows(text: str, options: WindowOptions) -> list[str]: ...

    split_windows(text, WindowOptions(doc_stride=64))

What a field declares besides its default is for commands only: the help, the
bounds, and what a trained model imposes on the value. The `Config` of a script
contains such classes as groups. command_line/, which is above this package,
turns each option of a `Config` into a flag:

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class SquadConfig(Config):
        windows: WindowOptions = group(WindowOptions)
        train_file: str = option(..., "File to train on.")

    python run_squad.py --train_file=train.json --doc_stride=64

So an option and its flag have the same name. The modules, in the order to read
them:

    fields.py: declares an option, or a group in a `Config`, as a field. The
        field records properties such as the `Role` of the option, which says
        what a trained model imposes on the value, and the `PathType` of a path
    config.py: `Config`, the base class of the options of a script. It lists
        its options, and is created, and copied, with other values
    declared_options.py: `Option`, of which there is one for each such field
    parsed_command.py: `ParsedCommand`, the `Config` of a command, and who
        decided its values: the user, other options, or a file
    path_flags.py: the flags of a command whose values are paths, and the check
        that no output overlaps an input or another output
"""
