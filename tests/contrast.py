"""Computes the contrast between a text and its background, as WCAG does."""


def contrast(one, other):
    """Returns the contrast of two RGB colors, whose values are in [0, 1].

    WCAG 2 requires at least 4.5.
    """
    values = sorted(map(_luminance, (one, other)))
    return (values[1] + 0.05) / (values[0] + 0.05)


def _luminance(color):
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in color
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
