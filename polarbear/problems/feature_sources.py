"""What a configuration may name as the source of its instances' features."""

from polarbear.wording import visible

LANDSCAPE = "landscape"
TABLE_ENDINGS = (".csv", ".parquet")


def is_table(source: str) -> bool:
    """Whether features are given by a table."""
    return source.endswith(TABLE_ENDINGS)


def checked_source(source: str) -> str:
    """The source of features in a configuration; ValueError if it is none."""
    is_function = ":" in source and source.rpartition(":")[2].isidentifier()
    if is_table(source) or is_function or source == LANDSCAPE:
        return source
    raise ValueError(
        f"expected a table FILE.csv or FILE.parquet, a function 'module:function', or "
        f"'{LANDSCAPE}'; found '{visible(source)}'"
    )
