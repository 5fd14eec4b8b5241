"""Send changes side by side: every connection is busy, and no change of a colleague is overwritten.

The first changes of a run are sent one record at a time: read, then written. From then on they are sent in waves:

    read k        one list request: what changed since read k - 1
    wave k        two writes a connection or more, of records that are unchanged by read k
    read k + 1    queued among the last writes of wave k, so that wave k + 1 is ready when they are done;
                  meanwhile the journal notes wave k + 1, because waiting for the disk takes as long as some writes

So the gap between reading and writing stays about as long as two to four answers. A record that a list shows as changed
is never written. If a list can't be relied on, its wave is read record by record, and after three such lists all are.
Deletions are always read one by one, because they can't be undone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any

from billframes.bulk.journal import Entry, Journal
from billframes.bulk.moved import ChangedRecords, Reading
from billframes.bulk.writing import MOVED, ON_INVOICE, Writer
from billframes.errors import AuthenticationError, BillframesError, TransportError
from billframes.loading.progress import Progress

__all__ = ["Sending"]

# Seconds within which outcomes are written to the disk at once.
_TOGETHER, _TOGETHER_IN_WAVES = 0.004, 0.02
# Failures in a row after which the server counts as down.
_DOWN = 50
# This many updates of a run are read one by one: all of a small plan. Lists are checked against what these wrote.
STRICT = 20
# Writes of a wave: at least and at most this many a connection, and within that as many as take this many seconds.
_LEAST, _MOST, _WAVE_SECONDS = 2, 16, 0.1
# Seconds after which the changes of the last minute are requested again.
_LOOK_AGAIN = 10.0
# Lists in a row that can't be relied on, after which no more are asked for.
_DISTRUST = 3


class Sending:
    """
    Sends the planned changes of a journal.

    Parameters
    ----------
    pool : ThreadPoolExecutor
        With a thread for each request that runs at the same time.
    journal : Journal
    writer : Writer
    changed : ChangedRecords, optional
        Finds which records changed; without it, each is read before it is written.
    at_once : int
        The pool's threads.
    told : Progress
    """

    def __init__(
        self,
        pool: ThreadPoolExecutor,
        journal: Journal,
        writer: Writer,
        changed: ChangedRecords | None,
        at_once: int,
        told: Progress,
    ) -> None:
        self._pool, self._journal, self._writer = pool, journal, writer
        self._changed, self._at_once, self._told = changed, at_once, told
        self._running: dict[Future[Entry], Entry] = {}
        # Requests that have ended, also those of lists.
        self._ready: SimpleQueue[Future[Any]] = SimpleQueue()
        self._reading: Future[Reading | None] | None = None
        # The wave that is sent when its list is received; the journal already has it as sent.
        self._wave: list[Entry] = []
        # Changes up to this time of the server's clock are known and noted.
        self._known_until: str | None = None
        self._looking: Future[Reading | None] | None = None
        self._looked = 0.0
        self._distrusted = 0
        self._written: list[str] = []
        self._strict = STRICT
        self._unsent: list[Entry] = []
        self._down = False
        self._total = journal.count()
        self._ended = self._total - journal.count("planned")
        self._begun, self._before = 0.0, self._ended
        self.last_sent = 0.0

    def send(self, actions: Sequence[str]) -> None:
        """
        Send the planned changes. Each is written to the journal before it is sent and after its response.

        Raises
        ------
        AuthenticationError
            The credential is not accepted.
        TransportError
            The server does not answer.
        """
        self._looked = time.monotonic()
        self._begun = self._begun or self._looked
        try:
            while True:
                self._fill(actions)
                if not self._running and self._reading is None:
                    return
                self._end()
                self._look_again()
        except BaseException:
            self._stop()
            raise

    def _fill(self, actions: Sequence[str]) -> None:
        """Keep enough requests running."""
        if self._reading is not None:
            if self._reading.done():
                reading, self._reading = self._reading.result(), None
                self._send_wave(reading, actions)
        elif self._changed is not None and self._strict <= 0 and "update" in actions:
            self._submit_and_ask((), None, actions)
        elif len(self._running) <= self._at_once:
            # Twice as many as run at once, so that no connection waits for the journal.
            planned = self._journal.waiting("planned", actions, 2 * self._at_once - len(self._running))
            self._strict -= sum(entry.action == "update" for entry in planned)
            self._submit_and_ask(self._journal.note_sent(planned), None, actions)

    def _submit_and_ask(self, entries: Sequence[Entry], unmoved_at: float | None, actions: Sequence[str]) -> None:
        """Submit changes, with the next list ahead of the last of them, and note the wave that follows the list."""
        before = max(0, len(entries) - _LEAST * self._at_once)
        self._submit(entries[:before], unmoved_at)
        if self._changed is not None and self._strict <= 0:
            self._ask(self._changed, actions)
        self._submit(entries[before:], unmoved_at)
        if self._reading is not None:
            self._wave = self._journal.note_sent(
                self._journal.waiting("planned", actions, self._size), self._known_until
            )

    def _ask(self, changed: ChangedRecords, actions: Sequence[str]) -> None:
        """Request which records have changed, if some wait to be written."""
        if "update" not in actions or not self._journal.waiting("planned", actions, 1):
            return
        written, self._written = self._written, []
        self._reading = self._pool.submit(changed.recent, written, self._pages)
        self._reading.add_done_callback(self._ready.put)

    @property
    def _pages(self) -> int:
        """The most requests of one list: fewer than reading the rest one by one would take."""
        return max(_LEAST, (self._total - self._ended) // 4)

    def _send_wave(self, reading: Reading | None, actions: Sequence[str]) -> None:
        """Send a wave of the records that a list shows unchanged, and the next list with it."""
        if reading is None:
            self._distrusted += 1
        elif self._changed is not None:
            self._distrusted = 0
            self._hold(reading)
            self._known_until = self._changed.since.isoformat()
        if self._distrusted >= _DISTRUST:
            self._changed = None
        wave, self._wave = self._wave, []
        self._submit_and_ask(wave, reading.asked if reading else None, actions)

    @property
    def _size(self) -> int:
        """The number of changes in a wave, by how fast they are written."""
        rate = (self._ended - self._before) / max(time.monotonic() - self._begun, _WAVE_SECONDS)
        return round(min(max(_LEAST * self._at_once, rate * _WAVE_SECONDS), _MOST * self._at_once))

    def _submit(self, entries: Sequence[Entry], unmoved_at: float | None = None) -> None:
        for entry in entries:
            sent = self._pool.submit(self._writer.send, entry, unmoved_at)
            self._running[sent] = entry
            sent.add_done_callback(self._ready.put)
            self.last_sent = time.monotonic()

    def _hold(self, reading: Reading) -> None:
        """Note the waiting updates whose records somebody changed: they are not sent."""
        rows = {row.id: row for row in reading.rows}
        held = []
        for entry in (*self._wave, *self._journal.planned_updates(list(rows))):
            row = rows.get(str(entry.id).casefold())
            # A change that was sent before, or has no date, is read by itself.
            if row is None or entry.action != "update" or entry.tries or entry.base is None:
                continue
            if row.modified_at.isoformat() != entry.base:
                held.append(entry.with_outcome(*(ON_INVOICE if row.billed else MOVED)))
        self._journal.note(held)
        self._ended += len(held)
        numbers = {entry.number for entry in held}
        self._wave = [entry for entry in self._wave if entry.number not in numbers]

    def _look_again(self) -> None:
        """Request the changes of the last minute again from time to time: a change can become visible late."""
        if self._looking is not None and self._looking.done():
            reading, self._looking = self._looking.result(), None
            self._looked = time.monotonic()
            if reading is not None:
                self._hold(reading)
        due = time.monotonic() - self._looked > _LOOK_AGAIN
        if due and self._looking is None and self._reading is not None and self._changed is not None:
            self._looking = self._pool.submit(self._changed.again, self._pages)
            self._looking.add_done_callback(self._ready.put)

    def _end(self) -> None:
        """Wait until a request has ended, and note its outcome."""
        ended = [self._ready.get()]
        # Outcomes that end together are written together, but a wave whose list was received does not wait for them.
        if self._reading is None:
            time.sleep(_TOGETHER)
        else:
            wait([self._reading], _TOGETHER_IN_WAVES)
        with suppress(Empty):
            while True:
                ended.append(self._ready.get_nowait())
        done = {each: self._running.pop(each) for each in ended if each in self._running}
        self._note(done)
        self._ended += len(done)
        self._told(min(self._ended, self._total), self._total)

    def _note(self, done: dict[Future[Entry], Entry]) -> None:
        """Write outcomes into the journal; raise if the rest can't be sent."""
        outcomes: list[Entry] = []
        refused: BaseException | None = None
        for each, entry in done.items():
            error = None if each.cancelled() else each.exception()
            refused = refused or error
            unsent = each.cancelled() or isinstance(error, AuthenticationError)
            outcomes += [replace(entry, state="planned")] if unsent else [] if error else [each.result()]
        self._journal.note(outcomes)
        if refused is not None:
            raise refused
        for entry in outcomes:
            self._unsent = [*self._unsent, entry] if entry.state == "failed" else []
        self._written += [str(each.id) for each in outcomes if each.state == "done" and each.action == "update"]
        if len(self._unsent) >= _DOWN:
            self._down = True
            raise TransportError(
                f"{self._writer.resource.name}: the last {len(self._unsent)} changes could not be sent "
                f"({self._unsent[-1].reason}). Go on with bf.resume({str(self._journal.path)!r}) later."
            )

    def _stop(self) -> None:
        """Wait for the running requests, so that their outcomes are in the journal."""
        for each in (*self._running, self._reading, self._looking):
            if each is not None:
                each.cancel()
        wait(self._running)
        self._journal.note([replace(entry, state="planned") for entry in self._wave])
        with suppress(BillframesError):
            self._note(self._running)
        if self._down:
            # Also if some were still sent in between, as when a quota runs out.
            failed = list(self._journal.entries("failed"))
            self._journal.note([replace(entry, state="planned") for entry in failed])
