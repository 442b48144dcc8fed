"""Checks that refuse a command before its first step.

A command meets them in this order:

    task_checks.py: `check_task`: the task, against the weights
"""
