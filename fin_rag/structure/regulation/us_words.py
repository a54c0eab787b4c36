"""The words and numbers of citations of CFR sections, FINRA rules, Basel paragraphs and FCA provisions."""

from __future__ import annotations

import re
from typing import Final

from fin_rag.structure.regulation.headings import SECTION_NUMBER

LEVEL: Final = re.compile(r"[ ]?\([ ]?(?P<label>\d{1,3}|[a-z]{1,5}|[A-Z]{1,5})[ ]?\)")
AND: Final = re.compile(r",?[ \n]{1,3}(?:and|or|and/or)[ \n]{1,3}|,[ \n]{1,3}|;[ ](?=§)")
TO: Final = re.compile(r"[ \n]{1,3}(?:to|through|and[ ]through)[ \n]{1,3}|[ ]?[-–—][ ]?(?=[(\d§A-Z])")
OF_OWN: Final = re.compile(
    r"[ \n]{1,3}(?:of|in|under|to)[ \n]{1,3}this[ \n]{1,3}(?P<kind>section|part|subpart|chapter|subchapter"
    r"|title|rule|appendix|paragraph|subdivision)(?!\w)",
    re.IGNORECASE,
)
OF: Final = re.compile(r"[ \n]{1,3}(?:of|in|under|to)[ \n]{1,3}(?:the[ ])?")
MOST: Final = 60

NUMBER: Final = rf"(?P<number>{SECTION_NUMBER})"
SECTION: Final = re.compile(rf"(?:§§?[ ]?){NUMBER}")
NEXT_SECTION: Final = re.compile(NUMBER)
CODE: Final = re.compile(
    r"(?P<title>\d{1,2})[ ]C\.?F\.?R\.?[ ](?P<part>[Pp]arts?[ ])?(?:§§?[ ]?|[Ss]ections?[ ])?(?=\d)"
)
PART_NUMBER: Final = re.compile(r"\d{1,4}[a-z]?(?![\w]|\.\d)")
RULE_NUMBER: Final = re.compile(r"(?P<number>\d{4}[A-Z]?)(?!\d)")
FOREIGN_RULE: Final = re.compile(
    r"(?P<act>SEA|SEC|Exchange[ ]Act|Securities[ ]Act|Investment[ ]Company[ ]Act|Advisers[ ]Act|NASD|MSRB"
    r"|NYSE|CFTC|Nasdaq|Cboe)[ ](?:Rules?|IM)[ ](?P<number>[A-Z]?-?\d{1,4}[A-Za-z]{0,2}(?:-\d{1,3})?)"
)
BASEL: Final = re.compile(r"(?P<code>[A-Z]{3})(?P<chapter>\d{1,3})(?:\.(?P<paragraph>\d{1,3}))?(?![\w])")
FCA: Final = re.compile(
    r"(?P<code>[A-Z]{2,8})[ ](?P<number>(?P<chapter>\d{1,3}[A-Z]?)(?:\.\d{1,3}[A-Z]{0,2}?){0,2})"
    r"(?P<status>[ ]?(?:[RGEDPC]|UK|EU)(?![\w]))?(?:[ ]Annex[ ](?P<annex>\d{1,2}[A-Z]?)"
    r"[ ]?(?P<annex_status>[RGEDPC]|UK|EU)?)?(?!\w)(?!\.\w)"
)
TRIGGER: Final = re.compile(
    r"(?<![\w])(?:(?P<section>§)|(?P<code>(?=\d{1,2}[ ]C\.?F\.?R))|(?P<act>(?=\d{1,2}[ ]U\.?[ ]?S\.?[ ]?C"
    r"|Securities|Investment|Exchange[ ]Act|Sarbanes|Trust[ ]Ind|Freedom[ ]of|Privacy[ ]Act|Bank[ ]Hold"
    r"|Executive[ ]Order|E\.O\.|Pub\.|Public[ ]L|Commission[ ]|Council[ ]|Delegated[ ]|Regulation[ ]\("
    r"|Directive[ ]))"
    r"|(?P<foreign>(?=(?:SEA|SEC|Exchange[ ]Act|Securities[ ]Act|Investment[ ]Company[ ]Act|Advisers[ ]Act"
    r"|NASD|MSRB|NYSE|CFTC|Nasdaq|Cboe)[ ](?:Rule|IM)))"
    r"|(?P<rule>(?=(?:FINRA[ ])?Rules?[ ]\d{4}))|(?P<supplement>(?=Supplementary[ ]Material[ ]\.\d))"
    r"|(?P<words>(?=(?i:sections?[ ]\d)))"
    r"|(?P<paragraph>(?=(?i:paragraphs?|subparagraphs?)[ \n]))|(?P<unit>(?=(?i:subpart|parts?)[ ][A-Z0-9]))"
    r"|(?P<this>(?=(?i:this)[ ](?i:section|part|subpart|chapter|subchapter|rule)\b))"
    r"|(?P<article>(?=(?i:articles?|art\.)[ ]\d))"
    r"|(?P<appendix>(?=(?i:appendix|appendices)[ ][A-Z]{1,2}\b))"
    r"|(?P<usc>(?=(?i:title|chapter)[ ]\d{1,3}\b[^.;\n]{0,30}United[ ]States[ ]Code))"
    r"|(?P<coded>(?=[A-Z]{2,8}[ ]?\d)))"
)
THIS: Final = re.compile(r"this[ \n](?P<kind>section|part|subpart|chapter|subchapter|rule)(?!\w)", re.IGNORECASE)
PARAGRAPH: Final = re.compile(r"(?:sub)?paragraphs?[ \n]{1,3}(?:(?P<basel>\d{1,3}\.\d{1,3})(?!\d))?", re.IGNORECASE)
UNIT: Final = re.compile(r"(?P<kind>subpart|part)s?[ ](?P<number>[A-Z]{1,3}(?!\w)|\d{1,4}(?!\w|\.\d))", re.IGNORECASE)
ARTICLE: Final = re.compile(
    r"(?i:articles?|art\.)[ ](?P<number>\d{1,4}[a-z]{0,2})(?P<levels>(?:\([0-9A-Za-z]{1,5}\)){0,5})"
    r"(?:[ ]?(?:to|and|,)[ ]?\d{1,4}(?:\([0-9A-Za-z]{1,5}\)){0,5}){0,8}[ ](?:of|in|to)[ ](?:the[ ])?"
)
FOREIGN_TEXT: Final = re.compile(r"[A-Z][\w’'-]{2,30}(?:[ ](?:(?:of|on|and|for|the)[ ]){0,2}[A-Z][\w’'-]{1,30}){0,8}")
DECIMAL: Final = re.compile(r"(?P<number>\d{1,3}\.\d{1,3})(?!\d)")
APPENDIX: Final = re.compile(r"(?i:appendix|appendices)[ ](?P<number>[A-Z]{1,2})(?!\w)")
OF_PART: Final = re.compile(r"[ \n](?:to|of)[ \n][Pp]art[ \n](?P<part>\d{1,4})(?!\w|\.\d)")
USC: Final = re.compile(
    r"(?i:chapter)[ ](?P<chapter>\d{1,3}[A-Z]?)[ ]of[ ](?=title)|(?i:title)[ ](?P<title>\d{1,2}),?[ ](?:of[ ]the[ ])?"
    r"United[ ]States[ ]Code"
)
SUPPLEMENT: Final = re.compile(r"Supplementary[ ]Material[ ](?P<number>\.\d{2})")
OF_SUPPLEMENT: Final = re.compile(r"[ \n]{1,3}of[ \n]{1,3}this[ \n]{1,3}Supplementary[ ]Material")
WORDS: Final = re.compile(r"[Ss]ections?[ ](?P<number>\d[\w.-]{0,14}?(?=[\s(,;.)]|\Z))")
LAST_NUMBER: Final = re.compile(r"\d+\Z")
NAMED_ACT: Final = re.compile(r"[A-Z][a-z].*\bAct\Z")
SIMPLE: Final = re.compile(r"(?P<number>\d{1,4}[A-Za-z]{0,3}(?:-\d{1,3})?)(?![\w.]\d)")
STATUTE: Final = re.compile(
    r"title[ ]\d{1,2},?(?:[ ](?:of[ ]the[ ])?United[ ]States[ ]Code)?|(?:[A-Z][\w’'-]{1,30}[ ](?:(?:and|of|on"
    r"|for|the|in|to)[ ]){0,3}){0,8}(?:Act|Code|Order|Reform|Directive|Regulation)(?:[ ]of[ ]\d{4})?(?!\w)"
    r"|[A-Z]{3,8}(?![\w.])"
)
