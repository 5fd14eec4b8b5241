"""Write the table of options in reference/options.md from their declaration.

Run `python docs/make_options.py` after an option has changed. A test checks that the table is up to date.
"""

from __future__ import annotations

from pathlib import Path

from billframes.client_options import OPTIONS, Option

PAGE = Path(__file__).parent / "reference" / "options.md"
BEGIN, END = "<!-- options: begin (python docs/make_options.py) -->", "<!-- options: end -->"


def page(text: str) -> str:
    """Return the page with its generated table replaced."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END)[1]}"


def table() -> str:
    """Return the table, with one row per option."""
    head = ["| option | meaning | default | in a profile |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *(_row(name, option) for name, option in OPTIONS.items())])


def _row(name: str, option: Option) -> str:
    default = "none" if option.default is None else f"`{option.default}`"
    return f"| `{name}` | {option.meaning} | {default} | {'yes' if option.in_profile else ''} |"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
