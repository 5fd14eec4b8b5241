"""What first contact with a server found out: what was looked at, whether it is as assumed, and what if it is not."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

__all__ = ["Finding", "FirstContact"]


@dataclass(frozen=True, slots=True)
class Finding:
    """
    One thing that was looked at.

    Parameters
    ----------
    name : str
        What it is, in a word or two.
    found : str
        What the server does.
    holds : bool, optional
        Whether that is what loads assume; None where it can't be told from the data there are.
    instead : str
        What billframes does where it is not.
    """

    name: str
    found: str
    holds: bool | None
    instead: str = ""

    @property
    def mark(self) -> str:
        """The answer in short: "ok", "NO" or "?"."""
        return {True: "ok", False: "NO", None: "?"}[self.holds]


@dataclass(frozen=True, slots=True, repr=False)
class FirstContact:
    """
    What a server really does; made by `Client.check`.

    `contact["total"]` is a finding by its name.

    Parameters
    ----------
    base_url : str
        The server's address.
    findings : tuple of Finding
    requests : int
        How many it took, tries again aside.
    """

    base_url: str
    findings: tuple[Finding, ...]
    requests: int

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The findings in which the server is not as assumed."""
        return tuple(finding for finding in self.findings if finding.holds is False)

    def __getitem__(self, name: str) -> Finding:
        found = next((finding for finding in self.findings if finding.name == name), None)
        if found is None:
            raise KeyError(f"{name!r}; there are {', '.join(repr(finding.name) for finding in self.findings)}")
        return found

    def __repr__(self) -> str:
        lines = [f"First contact with {self.base_url}, {self.requests} requests:"]
        for finding in self.findings:
            lines.append(f"  {finding.name:<14} {finding.mark:<2} {finding.found}")
            lines += [f"  {'':<14}    → {finding.instead}"] if finding.instead else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row">{escape(finding.name)}</th><td>{finding.mark}</td>'
            f"<td>{escape(finding.found)}</td><td>{escape(finding.instead)}</td></tr>"
            for finding in self.findings
        )
        return (
            f"<table><caption>First contact with {escape(self.base_url)}, {self.requests} requests</caption><thead><tr>"
            '<th scope="col">what</th><th scope="col">as assumed</th><th scope="col">found</th>'
            f'<th scope="col">what billframes does</th></tr></thead><tbody>{rows}</tbody></table>'
        )
