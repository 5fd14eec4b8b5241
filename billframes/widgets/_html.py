"""Small pieces that the widgets are put together from. Whatever comes from data is escaped here."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable
from importlib import resources
from typing import Any

import ipywidgets as w

__all__ = ["button", "note", "shown", "stylesheet", "text_of"]


def text_of(value: object) -> str:
    """
    Make any text safe to stand in HTML, and to be shown letter for letter, also where it holds dollar signs.

    Examples
    --------
    >>> text_of("<script> & $5")
    '<span class="mathjax_ignore tex2jax_ignore">&lt;script&gt; &amp; $5</span>'
    """
    # Jupyter's pages would set text between two dollar signs as a formula.
    return f'<span class="mathjax_ignore tex2jax_ignore">{html.escape(str(value))}</span>'


def note(markup: str = "", *classes: str) -> w.HTML:
    """Return a piece of HTML; what in it comes from data has gone through `text_of`."""
    return _with_classes(w.HTML(markup), *classes)


def button(words: str, act: Callable[[], object], *classes: str, tooltip: str | None = None) -> w.Button:
    """Return a button; a button's words are text, never HTML."""
    made = w.Button(description=words, tooltip=tooltip)
    made.on_click(lambda _button: act())
    return _with_classes(made, *classes)


def shown(widget: Any, visible: bool) -> None:
    """Show a widget, or take it out of the page and of the keyboard's way."""
    widget.layout.display = None if visible else "none"


def stylesheet() -> w.HTML:
    """Return the widgets' style, which reaches no further than their own classes."""
    return _with_classes(w.HTML(f"<style>{_css()}</style>"), "bf-style")


@functools.cache
def _css() -> str:
    return resources.files("billframes.widgets").joinpath("widgets.css").read_text(encoding="utf-8")


def _with_classes(widget: Any, *classes: str) -> Any:
    for name in classes:
        widget.add_class(name)
    return widget
