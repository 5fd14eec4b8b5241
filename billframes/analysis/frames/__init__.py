"""Users' frames on every engine: converted to Narwhals, each checked once, and results converted back.

`native` converts, `engine` and `expressions` add up and join, `data_span` finds the days that frames know. `values`
and `repeated_ids` check one frame.
"""
