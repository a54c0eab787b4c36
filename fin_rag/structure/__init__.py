"""Structure: sections, blocks and tables of a canonical text, one kind of document a file."""
