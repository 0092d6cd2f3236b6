"""Text as LaTeX shows it: whatever is in a name, nothing of it is a command."""

from __future__ import annotations

import unicodedata

from polarbear.report.drawing.labels import plain

SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}",
    '"': r"\textquotedbl{}",
    "'": "'",
    "`": r"\textasciigrave{}",
    "-": "{-}",  # so that two of them stay two
    "…": r"\ldots{}",
    "×": r"\ensuremath{\times}",
    "≥": r"\ensuremath{\geq}",
    "≤": r"\ensuremath{\leq}",
    "≳": r"\ensuremath{\stackrel{>}{\sim}}",
    "≲": r"\ensuremath{\stackrel{<}{\sim}}",
    "≈": r"\ensuremath{\approx}",
    "·": r"\textperiodcentered{}",
    "±": r"\ensuremath{\pm}",
}
RAISED = dict(zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True))
LATIN = 0x17F  # the last letter that the usual fonts of pdfLaTeX have
# Signs beyond that: as they are where the engine reads Unicode, otherwise by their number.
PREAMBLE = r"""\providecommand{\othersign}[2]{%
  \ifdefined\directlua#2\else\ifdefined\XeTeXversion#2\else\texttt{U+#1}\fi\fi}
\providecommand{\textquotedbl}{\char34\relax}
"""


def escaped(text: str) -> str:
    """Text that LaTeX typesets unchanged, on one line."""
    made = "".join(_sign(sign) for sign in unicodedata.normalize("NFC", plain(text)))
    return made.replace("}\\textsuperscript{", "")  # of neighbours that are raised: one


def _sign(sign: str) -> str:
    if sign in SIGNS:
        return SIGNS[sign]
    if sign in RAISED:
        return rf"\textsuperscript{{{RAISED[sign]}}}"
    if ord(sign) <= 0x7E or (0xC0 <= ord(sign) <= LATIN and sign.isalpha()):
        return sign
    return rf"\othersign{{{ord(sign):04X}}}{{{sign}}}"
