"""Canonical text, offset maps and number formats."""
