"""Cash forecasts of made-up firms, whose cash is known: `python -m tests.forecast`."""
