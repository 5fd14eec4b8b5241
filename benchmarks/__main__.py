"""All benchmarks, one after the other: `python -m benchmarks`."""

from __future__ import annotations

from benchmarks import analyses

if __name__ == "__main__":
    analyses.main()
