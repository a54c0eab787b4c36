"""Earnings calls: turns, speakers, exchanges."""

from fin_rag.structure.calls.model import CallOutline, Participant, Turn
from fin_rag.structure.calls.outline import call_title, outline_call, united

__all__ = ["CallOutline", "Participant", "Turn", "call_title", "outline_call", "united"]
