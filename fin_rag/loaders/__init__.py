"""Documents in: source files become canonical text, a page map and metadata."""
