"""Measure the speed of billframes, compared with code written by hand for the same task in the same run."""
