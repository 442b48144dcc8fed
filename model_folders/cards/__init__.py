"""Writes the README.md of weights, exports and runs: their model cards.

The words are in card.md.jinja, and the values come from model.json:

    model_card.py: `Card`, and the text that a template makes of a card
    descriptions.py: what a copy of weights says about the original
    example_calls.py: how to call an exported model
    markdown.py: escapes the values that a card shows
"""
