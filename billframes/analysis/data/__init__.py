"""The frames of a book or of a call, on every engine: checked and converted once, with the facts made from them.

- `data`, `call`, `sheet`: frames as passed, one call of an analysis, and its public function
- `native`, `engine`, `expressions`: convert users' frames to Narwhals and results back, add up and join
- `values`, `repeated_ids`: check one frame; `between`, `compared_with_load`: frames beside each other and their loads
- `data_span`: the days that frames know
- `arguments`, `people`: the arguments that analyses share, and the people whom the settings name
"""
