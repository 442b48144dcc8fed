"""Writes the README.md of weights, exports and runs: their model cards.

The words are in templates/, and the values come from model.json:

    model_card.py: a class for each kind of card, such as `RunCard`, and the
        text that its template makes of it
    copied_model_json.py: the model.json of a copy or an export of weights
    file_table.py: what the table of files in a card says
    templates/: card.md.jinja, and for each class a template that extends it
    example_calls.py: how to call an exported model
    markdown.py: escapes the values that a card shows
"""
