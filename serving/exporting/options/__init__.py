"""What the caller of an export chooses.

All other modules of exporting/ read the options, which import none of them.

    export_options.py: the options of an export, for Python
    export_flags.py: the flags of scripts that export
"""
