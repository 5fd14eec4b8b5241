"""A book: the frames of one period's analyses, loaded when needed, and the analyses as methods."""

from __future__ import annotations

from billframes.book.book import Book

__all__ = ["Book"]
