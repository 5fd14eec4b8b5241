"""Users' frames on every engine: converted to Narwhals, each checked once, and results converted back.

`native` converts, `engine` and `expressions` add up and join, `data_span` finds the days that frames know. `values`
runs the checks of one frame, which `repeated_ids`, `column_rules` and `implausible_values` describe.
"""
