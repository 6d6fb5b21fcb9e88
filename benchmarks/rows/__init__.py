"""The rows of the table, one module per topic; each has `rows(bench)`."""
