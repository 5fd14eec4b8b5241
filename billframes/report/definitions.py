"""The names of the workbook's sheets, and what their figures mean."""

from __future__ import annotations

from collections.abc import Iterator

from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.results.explain import plain_words
from billframes.report.table_spec import ReportTable


def sheet_name(title: str, longest: int = 31) -> str:
    """
    Shorten a title to the name of a sheet, which Excel limits to 31 characters.

    Examples
    --------
    >>> sheet_name("Work in progress by responsible lawyer"), sheet_name("Utilization by timekeeper")
    ('Work in progress by responsible', 'Utilization by timekeeper')
    """
    return title if len(title) <= longest else title[: longest + 1].rpartition(" ")[0]


def meaning_of(table: ReportTable) -> tuple[str, ...]:
    """Return what the figures of a table mean, in paragraphs: the question and the definitions of its analysis."""
    if table.meaning:
        return table.meaning
    analysis = analyses()[table.analysis]
    return (analysis.question, *_definitions(analysis))


def _definitions(analysis: Analysis) -> Iterator[str]:
    for heading, texts in analysis.parts.items():
        # Readers could mistake an example's figures for the firm's.
        if heading == "Example":
            continue
        sentences = (plain_words(text, analysis) for text in texts)
        yield from (_sentence(_OPENINGS.get(heading, ""), text) for text in sentences if text)


_OPENINGS = {
    "Formula": "The formula is ",
    "Numerator": "Numerator: ",
    "Denominator": "Denominator: ",
    "Counted": "What counts: ",
    "Not counted": "What is not counted: ",
    "The billing system can’t tell": "The billing system can’t tell: ",
}


def _sentence(opening: str, text: str) -> str:
    """
    Begin a text with an opening, and end it with a period.

    Examples
    --------
    >>> _sentence("The formula is ", "billed ÷ value of time billed")
    'The formula is billed ÷ value of time billed.'
    """
    first = text[:1].lower() if opening and not text[1:2].isupper() else text[:1].upper()
    return f"{opening}{first}{text[1:]}{'' if text.endswith('.') else '.'}"
