"""Writes the README.md of weights, exports and runs: their model cards.

The words are in card.md.jinja, and the values come from model.json:

    model_card.py: `Card`, and the text that a template makes of a card
    copies.py: model.json and README.md of a copy of weights
    example_calls.py: how to call an exported model
    markdown.py: escapes the values that a card shows
"""
