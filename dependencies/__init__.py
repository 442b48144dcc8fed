"""Imports other packages late, and says how to install what is missing.

So a script prints --help, or reports a wrong flag, before TensorFlow loads:

    lazy.py: imports the names of a package at their first use
    import_hooks.py: runs code around the import of a package
    registration.py: lets Keras load models that no code has imported yet
    installation.py: the version, the names of installed commands, and how to
        install a missing package
"""
