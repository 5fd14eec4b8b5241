"""The method of a book for the week: the page of a person, or of the firm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from billframes.periods import DateLike

if TYPE_CHECKING:
    from billframes.week.page import WeekPage


class BookWeek:
    """The week of a person or of the firm, as a method of the book."""

    def week(self: Any, user: str | None = None, *, date: DateLike | None = None) -> WeekPage:
        """
        Write the page of a week: hours beside targets, missing days, late entries, and what waits for a lawyer.

        Parameters
        ----------
        user : str, optional
            The person, by name, a part of it, e-mail address or id. By default the page is the firm's.
        date : date-like, optional
            The hours end on the last working day before it. By default the day after the book's last day, or the day
            of the load if that is earlier.

        Returns
        -------
        WeekPage
            It shows itself in a notebook. `.html` is the page, `.text` the same as text, and `.message()` an e-mail to
            the person as a draft.

        Raises
        ------
        ParameterError
            Nobody or several people have the name, the person has left or has nothing on a page, or the week ends after
            the load.

        Examples
        --------
        >>> page = bf.book("2026-W43").week("Raman")
        >>> page.subject, page.name
        ('Week to Friday 23 October 2026', 'Priya Raman')
        """
        from billframes.week.page import week_of_book

        return week_of_book(self, user, date)


METHODS = BookWeek
