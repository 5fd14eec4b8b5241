"""Warnings about frames that would give a wrong figure without an error.

- `loads`: frames that were loaded for too short a period, or with filters
- `cut_frames`: the same for frames without memory of their load, from what they show
- `amounts`: amounts that are hidden or in cents, and rates that are not per hour
- `tax_share`, `cancelled_work`: invoices with taxes, and work that credits cancel
"""
