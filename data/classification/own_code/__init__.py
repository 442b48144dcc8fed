"""Reads examples with a user's class, which was written for Google's code.

Read the modules in this order:

    user_processor.py: reads the sets that the class of --processor returns
    google_code.py: runs the file of the class, with the names that it uses
"""
