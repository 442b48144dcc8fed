"""Draws attention weights in one self-contained HTML file, for predict.py."""

import html
import json
from pathlib import Path
from typing import Any

_PAGE = Path(__file__).parent / "server" / "page"
# Marks a page that `render` created.
FIRST_LINE = "<!-- attention, as predict.py draws it -->"
_HTML = """{first_line}
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style></head><body>
<h1>{title}</h1>
<div class="answer" id="attention"></div>
<script type="application/json" id="data">{data}</script>
<script>
{script}
showAttention(document.getElementById("attention"),
  JSON.parse(document.getElementById("data").textContent));
</script>
</body></html>
"""


def render(found: dict[str, Any]) -> bytes:
    """Returns an HTML page that draws the result of `TextModel.attention`."""
    words = [token for token in found["tokens"] if token != "[CLS]"]
    title = f"Attention: {' '.join(words)[:100]}"
    # Escape "<", because "</script>" in a text would end the element.
    data = json.dumps(found).replace("<", "\\u003c")
    page = _HTML.format(
        first_line=FIRST_LINE,
        title=html.escape(title),
        style=(_PAGE / "page.css").read_text(encoding="utf-8"),
        data=data,
        script=(_PAGE / "attention.js").read_text(encoding="utf-8"),
    )
    return page.encode()
