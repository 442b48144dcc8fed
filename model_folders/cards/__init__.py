"""Writes the README.md of weights, exports and runs: their model cards.

The words are in templates/, and the values come from model.json:

    model_card.py: a class for each kind of card, such as `RunCard`, and the
        text that its template makes of it
    templates/: card.md.jinja, and for each class a template that extends it
    file_table.py: the table of the files in a folder, and what each contains
    copies.py: model.json and README.md of a copy of weights
    example_calls.py: how to call an exported model
    markdown.py: escapes the values that a card shows
"""
