"""Send HTTP requests: connections, retries, pacing, errors, and recovery of uncertain writes."""

import sys

# The command line of httpx imports Rich, Click and Pygments where they are there: a fifth of what `connect` imports.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
