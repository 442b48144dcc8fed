"""Texts that are hard to tokenize, cut or decode, each under a name.

For example:

    @pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
"""

REPEATING = "a" * 100 + " " + "b" * 101
# What a text can be: nothing, long, in scripts of all kinds, odd.
NASTY = {
    "empty": "",
    "a space": " ",
    "ASCII white space": "\t\r\n \v\f",
    "no-break space": "\u00a0",
    "wide spaces": "\u3000\u2003",
    "zero-width space": "\u200b",
    "byte order mark": "\ufeff",
    "a sentence": "The harbor light is on.",
    "kinds of spaces": "the\u00a0boat\u202fand\u2009the\u3000sea",
    "zero-width characters": "a\u200bb c\u200cd\u200de \ufefff\u00adg",
    "emoji": (
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f469\U0001f3fd"
        "\u200d\U0001f680 at sea \U0001f1e9\U0001f1ea \u2764\ufe0f"
    ),
    "accents": (
        "e\u0301te\u0301 Z\u0351\u036ba\u0343lgo \u0130stanbul K\u00d6LN \ufb01"
    ),
    "accents alone": "\u0301\u0308 the \u0301boat",
    "Chinese": (
        "\u6e2f\u53e3\u7684\u706f the light \u6e2f\u3002 \U00020000\u8c93"
    ),
    "right to left": (
        "\u202b\u05e9\u05dc\u05d5\u05dd\u202c"
        " \u0627\u0644\u0628\u064e\u062d\u0631 \u200fboat\u200e"
    ),
    "Greek capitals": (
        "\u0397 \u0398\u0391\u039b\u0391\u03a3\u03a3\u0391 \u03a3\u0391\u03a3"
    ),
    "scripts with marks": (
        "\u0928\u092e\u0938\u094d\u0924\u0947 \u0e2a\u0e27\u0e31\u0e2a"
        " \ud55c\uad6d \u1112\u1161\u11ab"
    ),
    "control characters": (
        "\x00 \x07boat\x1b[0m \x7f \x85 the \u2028sea\u2029 \ufffd"
    ),
    "private use": "\ue000 \uffff \U0010ffff the boat",
    "line breaks": "line\none\r\ntwo\tthree\vfour\ffive",
    "special tokens": "[MASK] [SEP] [CLS] [PAD] [UNK]",
    "half special tokens": "a [SEP] b[CLS]c ##ing ## [MASK the[SEP]boat [mask]",
    "punctuation": (
        "U.S. O'Brien don't 1990\u20131995 York\u2014often...Bob\u2026"
        " (a storm)!"
    ),
    "quotes and symbols": (
        "\u00ab\u201e\u201c\u201d\u00bb ?! -- $5.00 a/b @c #d x^2 `e` ~f |g"
    ),
    "a word too long": "x" * 300 + " boats",
    "repeating": REPEATING,
    "200 words": "boat " * 200,
    "90 ideographs": "\u6e2f" * 90,
    "40 sentences": "A boat, the sea and (a storm)! " * 40,
    "500 spaces": "a" + " " * 500 + "boat",
}
TEXTS = [*NASTY.values()]
# The second text of each pair.
OTHERS = dict(zip(NASTY, [*TEXTS[11:], *TEXTS[:11]], strict=True))
# By design, the graph cuts an answer at its WordPieces, and Python, as Google's
# code, at its characters (see docs/differences.md). The answers differ in words
# with characters that BERT drops or takes for spaces, and their positions in a
# word that repeats its WordPieces.
DROPPED = (
    "\u00a0\u2009\u3000\u2003\u200b\u200c\u200d\u200e\u200f\u202b\u202c\ufeff\u00ad"
    "\x00\x07\x1b\x7f\x85\u2028\u2029\ufffd\ue000\uffff\U0010ffff"
)
