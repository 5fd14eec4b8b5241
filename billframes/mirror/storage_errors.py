"""Turn the errors of the disk and of the object store into a `MirrorError` of one or two sentences."""

from __future__ import annotations

import errno

from billframes._shared.messages import clean_text, cut
from billframes.errors import MirrorError

_LONGEST = 600
_FULL = {errno.ENOSPC, errno.EDQUOT}


class FullDiskError(MirrorError):
    """There is no space to write."""


def full_disk_error(location: str, next_step: str = "Free some space, and try again.") -> FullDiskError:
    """Return the error of a full disk; `next_step` says what the mirror has, and what to do."""
    return FullDiskError(f"The mirror {location} can't be written: the disk is full. {next_step}")


def mirror_error(location: str, error: BaseException, text: str) -> MirrorError:
    """Return an error of the storage as `MirrorError`; `text` is its message without credentials."""
    number = getattr(error, "errno", None)
    if isinstance(error, PermissionError) or "Permission denied" in text or "os error 13" in text:
        return MirrorError(f"The mirror {location} can't be written or read: permission denied. Nothing was changed.")
    if number in _FULL or any(f"os error {each}" in text for each in _FULL):
        return full_disk_error(location)
    if number == errno.EROFS or "os error 30" in text:
        return MirrorError(
            f"The mirror {location} can't be written: the file system is read-only. Nothing was changed."
        )
    if "conflict" in text.lower() or type(error).__name__ == "CommitFailedError":
        return MirrorError(
            f"The mirror {location} was changed by another process during this refresh. Its last version is complete; "
            "refresh again."
        )
    # "Parquet magic bytes not found" is the text of a damaged file.
    is_missing = "not found" in text.replace("bytes not found", "").lower() or "No such file" in text
    if isinstance(error, FileNotFoundError) or is_missing:
        return MirrorError(
            f"The mirror {location} lacks a file that this version needs; it may have been vacuumed. Open a newer "
            "version, or load everything again with refresh(full=True), or `billframes sync` with --full."
        )
    # Below the first line, deltalake adds the causes, each after an arrow.
    first, *causes = (clean_text(each).strip() for each in text.split("↳"))
    reason = cut(": ".join([*first.splitlines()[:1], *causes]), _LONGEST)
    return MirrorError(f"The mirror {location} can't be used: {reason or type(error).__name__}")
