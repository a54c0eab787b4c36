"""Anchors: detectors over lines and tables of contents, one arbiter, an audit record."""
