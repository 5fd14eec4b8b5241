"""Send HTTP requests: connections, retries, pacing, errors, and recovery of uncertain writes."""
