"""The rows that analyses add up, with their dates and amounts, and the keys that group them.

- `open_work`: work in progress on a day
- `keys`, `grouping`, `arguments`: what `by=` and the other shared arguments mean
"""
