"""Checks of users' frames for mistakes that would give a wrong figure without an error.

- `values`: repeated ids, missing numbers and dates, and unknown enum values, in every frame that is passed
- `repeated_ids`, `column_rules`, `implausible_values`: parts of these checks
- `loads`: frames that were loaded for too short a period, or with filters
- `missing_work`: frames with only a part of the records that an analysis compares
- `amounts`: amounts that are hidden or in cents, and rates that are not per hour
"""
