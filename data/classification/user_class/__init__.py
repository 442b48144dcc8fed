"""Reads examples with a user's class, which was written for Google's code.

--processor=FILE.py:CLASS names such a class. Read the modules in this order:

    google_code.py: runs the file, and explains the errors of its code
    user_class_sets.py: `UserClassSets`, which calls the methods of the class
    user_class_processor.py: the sets and the labels of the class
"""
