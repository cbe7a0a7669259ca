"""Public samplers judged: each from its own package, by one record, and the page of what was found."""
