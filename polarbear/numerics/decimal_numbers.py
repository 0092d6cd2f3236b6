"""Numbers as programs of all languages print them."""


def decimal_number(text: str) -> float:
    """The number that a text stands for; raise ValueError if it is none.

    Python also reads ``1_0`` as 10, and digits of other scripts. In the output of a program these
    are no numbers but signs that something else was printed.
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"not a decimal number: {text!r}")
    return float(text)
