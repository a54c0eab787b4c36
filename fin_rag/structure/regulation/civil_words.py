"""The words and numbers of citations in Spanish, EU and German acts."""

from __future__ import annotations

import re
from typing import Final

from fin_rag.structure.regulation.numbers import ARTICLE_NUMBER, SUFFIX, alternatives, ordinal_pattern, vocabulary

_ROMAN: Final = r"[IVXLC]{1,7}(?![\w])"
_ORDINAL: Final = ordinal_pattern()
# Kind and pattern of the unit words, as (kind, words).
_UNITS: Final = (
    ("subparagraph", r"(?:(?:first|second|third|fourth|fifth|sixth|last|introductory|final)[ ](?:(?:and|or)"
                     r"[ ](?:first|second|third|fourth|fifth|last)[ ])?(?:sub-?paragraphs?|sentences?"
                     r"|indents?|wording|phrase|part|paragraphs?)"
     rf"|(?:{_ORDINAL})[ ](?:p[áa]rrafos?|guion(?:es)?|inciso)|p[áa]rrafos?[ ](?:{_ORDINAL})(?:[ ](?:y|a)"
     rf"[ ](?:{_ORDINAL}))?|Unterabs[äa]tz(?:e|es|en)?[ ]\d+"
                     r"(?:(?:,[ ]|[ ](?:und|oder|bis)[ ])\d+){0,9})"),
    ("art", r"art[íi]culos?|arts?\.|articles?|artikeln?|artikels"),
    ("disp", r"disposici(?:[óo]n|ones)[ ](?:adicional(?:es)?|transitorias?|derogatorias?|final(?:es)?)"),
    ("norma", r"normas?"),
    ("par", r"apartados?|p[áa]rrafos?|n[úu]meros?|n[úu]m\.|paragraphs?|abs[äa]tz(?:es|en|e)?|absatz(?:es)?"),
    ("pt", r"letras?|sub-?points?|points?|puntos?|buchstaben?|nummern?"),
    ("annex", r"anexos?|anejos?|annex(?:es)?|anhangs?|anh[äa]ngen?"),
    ("recital", r"considerandos?|recitals?|erw[äa]gungsgr[üu]nde?n?"),
    ("title", r"t[íi]tulos?|titles?|titels?"), ("chapter", r"cap[íi]tulos?|chapters?|kapitels?"),
    ("subsection", r"subsecci(?:[óo]n|ones)|sub-?sections?|unterabschnitts?"),
    ("section", r"secci(?:[óo]n|ones)|sections?"
                r"|abschnitts?"), ("book", r"libros?|books?"), ("part", r"parts?|partes?|teile?"),
)  # fmt: skip
UNIT: Final = re.compile(
    r"(?:" + "|".join(rf"(?P<{kind}>(?:{words}))" for kind, words in _UNITS) + r")(?![\wáéíóúñ])",
    re.IGNORECASE,
)
CONTAINER_KINDS: Final = frozenset({"title", "chapter", "section", "subsection", "book", "part"})
ITEM_KINDS: Final = ("par", "pt", "sub")
DISPOSITIONS: Final = (("adicional", "da"), ("transitoria", "dt"), ("derogatoria", "dd"), ("final", "df"))

_SIGN: Final = r"(?:\.?[ ]?[ºª°])"
NUMBERS: Final = {
    "art": re.compile(rf"{ARTICLE_NUMBER}{_SIGN}?(?:[ ]{SUFFIX})?(?![\d/])|(?:{_ORDINAL})"
                      rf"(?:[ ]{SUFFIX})?", re.IGNORECASE),
    "norma": re.compile(rf"{ARTICLE_NUMBER}{_SIGN}?(?:[ ]{SUFFIX})?(?![\d/])|(?:{_ORDINAL})"
                        rf"(?:[ ]{SUFFIX})?", re.IGNORECASE),
    "disp": re.compile(rf"(?:{_ORDINAL})(?:[ ]{SUFFIX})?|\d{{1,3}}{_SIGN}?(?:[ ]{SUFFIX})?(?![\d/])"
                       rf"|{_ROMAN}", re.IGNORECASE),
    "par": re.compile(rf"\([ ]?(?P<in>\d{{1,3}}[a-z]?)[ ]?\)|(?P<half>[a-zñ])\)|\d{{1,3}}(?:[a-z](?!\w)"
                      rf")?{_SIGN}?(?:[ ]{SUFFIX})?(?![\d/%,]\d|[ ]?%)|(?:{_ORDINAL})(?:[ ]{SUFFIX})?|(?:uno"
                      rf"|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez)(?!\w)", re.IGNORECASE),
    "pt": re.compile(rf"\([ ]?(?P<in>\d{{1,3}}[a-z]?|[a-zñ]{{1,5}})(?:[ ]{SUFFIX})?[ ]?\)"
                     rf"|(?P<half>[a-zñ]{{1,2}}|[ivx]{{1,5}}|\d{{1,2}})(?:[ ]{SUFFIX})?['´]?\)"
                     rf"|\d{{1,3}}{_SIGN}?(?:[ ]{SUFFIX})?(?![\d/%,]\d|[ ]?%)|[a-z](?![\w)])(?=[ ,;.]|\Z)"),
    "annex": re.compile(rf"{_ROMAN}(?:[ ]{SUFFIX})?|\d{{1,3}}(?![\d/.]\d|\w)|[A-Z](?!\w)"),
    "recital": re.compile(r"\([ ]?(?P<in>\d{1,3})[ ]?\)|\d{1,3}(?!\w)"),
    "container": re.compile(rf"(?:{_ROMAN}|(?i:preliminar)(?!\w)|\d{{1,3}}{_SIGN}?(?![\d/.]\d|\w)"
                            rf"|[A-Z](?![\w.]))(?:[ ]{SUFFIX})?|(?i:{_ORDINAL})(?:[ ]{SUFFIX})?"
                            rf"|(?i:{alternatives(vocabulary()['english_cardinals'])})(?!\w)"),
}  # fmt: skip
# Levels glued to a number: 12.3.b), 5(1)(b)(i).
ATTACHED: Final = re.compile(
    rf"\.(?P<dotted>\d{{1,3}}{_SIGN}?(?:[ ]{SUFFIX})?)(?![\d,]\d|[ ]?%|[ ]por ciento)"
    rf"|\.?[ ]?(?P<half>[a-zñ]{{1,2}}|[ivx]{{2,5}})['´]?\)|\.[ ]?(?P<ord>\d{{1,2}}\.?[ºª°])"
    rf"|[ ]?\([ ]?(?P<paren>\d{{1,3}}[a-z]?|[a-z]{{1,5}})(?:[ ]{SUFFIX})?[ ]?\)"
)
AND: Final = re.compile(
    r",?[ \n]{1,3}(?:y|e|o|u|ni|and|or|nor|und|oder|sowie|and/or|y/o)[ \n]{1,3}(?:(?:en|a|de|to|in|of)"
    r"[ ])?(?:(?:el|la|los|las|del|al|the|der|die|den)[ \n]{1,2})?|,[ \n]{1,3}(?:(?:del|de[ ]la|el|la|the)"
    r"[ \n]{1,2})?(?=[\w(])"
)
RANGE: Final = re.compile(
    r"[ \n]{1,3}(?:a|al|hasta[ ](?:el|la)|to|through|bis)[ \n]{1,3}(?:(?:el|la|los|las)[ ])?|[-–—](?=[\d(])"
)
OF: Final = re.compile(
    r",?[ \n]{1,3}(?:del?|of|in|to|from|en|al|contained[ ]in|des|der)[ \n]{1,3}(?:(?:la|los|las|el|the|dem)"
    r"[ \n]{1,2})?(?:(?:citad|mencionad|referid|propi)[oa]s?[ ])?"
)
SUB: Final = re.compile(r",?[ \n]{1,3}(?:in[ ](?:its[ ])?|en[ ]su[ ])?(?:the[ ])?")
RELATIVE_AFTER: Final = re.compile(
    r"[ \n]{1,2}(?P<word>anterior(?:es)?|precedentes?|siguientes?|above|below)(?!\w)", re.IGNORECASE
)
RELATIVE_BEFORE: Final = re.compile(
    r"(?P<word>est[ea]|el[ ]mismo|la[ ]misma|(?:el[ ]|la[ ])?presente|this|the[ ](?:preceding|previous"
    r"|foregoing|next)|diese[ms]?|dieser|vorstehende[nrs]?)[ \n]{1,2}(?=\w)",
    re.IGNORECASE,
)
TRIGGER: Final = re.compile(
    r"(?<![\w])(?=(?i:art[íi]culos?|arts?\.|articles?|artikel|disposici|norma|apartado|p[áa]rrafo|n[úu]m"
    r"|letra|punto|point|sub-?point|paragraph|absatz|abs[äa]tz|buchstabe|nummer|annex|anexo|anejo|anhang|anh[äa]ng"
    r"|considerando|recital|t[íi]tulo|title|titel|cap[íi]tulo|chapter|kapitel|secci|section|abschnitt|subsec"
    r"|sub-section|libro|book|part|teil|est[ea][ ]|presente|this[ ]|diese|the[ ](?:preceding|previous"
    r"|foregoing|next)[ ]"
    r"|(?:first|second|third|fourth|fifth|last)[ ])|Ley|Real|Decreto|[ÓO]rden|Circular|Instrucci|Resoluci"
    r"|Reglamento|Directiva|Decisi|Recomenda|Commission|Council|Delegated|Implementing|Regulation|Directive"
    r"|Decision|Recommendation|Delegierte|Durchf|Verordnung|Richtlinie|Beschl|Entscheidung|Law|Royal)"
)
