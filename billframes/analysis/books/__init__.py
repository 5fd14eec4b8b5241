"""The firm's books beside the billing system: payments of invoices, and what is open in both."""
