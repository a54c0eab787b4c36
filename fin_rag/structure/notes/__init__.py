"""Notes of reports: where they stand, what marks them, and which figure, label or sentence cites which note."""

from fin_rag.structure.notes.find import find_notes
from fin_rag.structure.notes.model import Join, Marker, Note, NoteKey, Notes

__all__ = ["Join", "Marker", "Note", "NoteKey", "Notes", "find_notes"]
