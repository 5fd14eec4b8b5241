from billframes.widgets.bulk_button import ApplyButton as ApplyButton, apply_button as apply_button
from billframes.widgets.explorer import Explorer as Explorer, explore as explore
from billframes.widgets.panel import FilterPanel as FilterPanel, filter_panel as filter_panel
