"""Decodes bytes to text: finds the encoding of a document, whatever it declares.

The order is that of the HTML standard (byte order mark, HTTP header, meta element; section 13.2.3),
but every declaration is checked against the bytes, because servers and templates often get it
wrong.
"""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is a prefix of it
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_SUPERSETS = {  # what browsers use for these labels (https://encoding.spec.whatwg.org/#names)
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "hz": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf-16": "utf-16-le",
    "utf-7": "utf-8",  # never accepted: it hides markup
}
_ALIASES = {  # labels used on the web that Python does not know
    "gb_2312": "gb18030",
    "gb_2312-80": "gb18030",
    "x-gbk": "gb18030",
    "x-x-big5": "big5hkscs",
    "windows-31j": "cp932",
    "x-sjis": "cp932",
    "x-euc-jp": "euc_jp",
    "ks_c_5601-1987": "cp949",
    "windows-949": "cp949",
    "windows-874": "cp874",
    "x-cp1250": "cp1250",
    "x-cp1251": "cp1251",
    "x-cp1252": "cp1252",
    "iso-8859-8-i": "iso8859_8",
}

_CJK_CODECS = ("gb18030", "big5hkscs", "cp932", "cp949", "euc_jp", "iso2022_jp")
_WESTERN = "cp1252"
_LANGUAGES = {
    "gb18030": "zh",
    "big5hkscs": "zh",
    "cp932": "ja",
    "euc_jis_2004": "ja",
    "cp949": "ko",
    "cp1251": "ru uk bg be sr mk",
    "koi8-r": "ru",
    "cp1252": "en de fr es sv pt da fi it nl no ca",
    "cp1250": "pl cs hu hr sk ro sl bs sr",
    "iso8859-2": "pl cs hu hr sk ro sl bs",
    "cp1253": "el",
    "cp1254": "tr",
    "cp1255": "he",
    "cp1256": "ar fa",
    "cp1257": "lt lv et",
    "cp874": "th",
}
"""The encodings of documents that declare none, with the languages that are written in them."""

_UNKNOWN_LANGUAGE = 0.02  # the least likelihood that a text is in a language of its encoding
_LEFT_OUT = 0.003  # the confidence in encodings that chardet leaves out: that in unlikely ones
_UNSURE = 0.3  # of the best candidate's score; from it on, another one may be right

_LOOKED_AT = 1_000  # bytes of lines that are not ASCII, in which the language is recognized

SAMPLE = 40_000  # bytes examined if no encoding is declared
UTF16_WITHIN = 1_024  # bytes from the start in which UTF-16 without a mark is recognized
META_WITHIN = 4_096  # bytes from the start; the standard says 1,024, but templates exceed that
_BAD_SHARE = 0.01  # of characters; the most undecodable ones in text whose declaration is accepted

_META = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]{2,40})", re.I)
_XML = re.compile(rb"<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]{2,40})", re.I)
_MARKUP = re.compile(rb"<(script|style)\b.*?</\1\s*>|<[^<>]*>", re.I | re.S)
_MULTIBYTE_UTF8 = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fc]")
_PLAIN_LETTERS = re.compile("[A-Za-z]")
_SPELLS = re.compile(r"(?![\x00-\x7fªµº])(?:[^\W\d_]|(?<=[A-Za-z]).|.(?=[A-Za-z]))")
"""A character of a word; signs that stand alone ("5 µm", "§ 12") say nothing of a language."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_C1 = re.compile("[\x80-\x9f]")  # no text has them; they show a wrong encoding
_NOT_PLAIN = re.compile("[^\x00-\x7f\xa0]")  # no-break spaces are layout


def decode(data: bytes, declared: str | None = None) -> str:
    """The text of a document; ``declared`` is the charset its transport declares, if any.

    Never fails: undecodable bytes become U+FFFD.
    """
    return decoded(data, declared)[0]


def decoded(data: bytes, declared: str | None = None) -> tuple[str, bool]:
    """The text as ``decode`` returns it, and whether its encoding is only guessed."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(codec, "replace"), False
    if codec := utf16_of(data):
        return data.decode(codec, "replace"), False
    if data.isascii() and b"\x1b" not in data:  # ISO-2022-JP is ASCII with escapes
        return data.decode("ascii"), False
    claims = _claims(data, declared)
    if _is_utf8(data, claims):
        return data.decode("utf-8"), False
    for codec in claims:
        text = data.decode(codec, "replace")
        is_plausible = text.count("\ufffd") <= len(text) * _BAD_SHARE
        if is_plausible and not (codec == _WESTERN and _looks_garbled(data)):
            return text, False
    encoding, is_guessed = _detected(data, claims)
    return data.decode(encoding, "replace"), is_guessed


def utf16_of(data: bytes) -> str:
    """Return the codec of mostly Latin UTF-16 text without a byte order mark; "" for other data."""
    start = data[:UTF16_WITHIN]
    for codec, at in (("utf-16-le", 1), ("utf-16-be", 0)):
        high, low = start[at::2], start[1 - at :: 2]
        is_text = len(low) > 1 and 2 * high.count(0) > len(high) and 0 not in low
        if is_text and not _CONTROLS.search(start.decode(codec, "replace")):
            return codec
    return ""


def declared_in(content_type: str) -> str | None:
    """The charset parameter of a Content-Type header."""
    match = re.search(r"charset\s*=\s*[\"']?([^\s\"';,]+)", content_type, re.I)
    return match[1] if match else None


def _claims(data: bytes, declared: str | None) -> list[str]:
    """Codecs that the header and the document declare; those that fail on wrong input come first.

    Any bytes are valid in a single-byte encoding, and servers send "ISO-8859-1" for everything.
    """
    start = data[:META_WITHIN]
    labels = [
        declared,
        *(m[1].decode("ascii") for m in (_META.search(start), _XML.search(start)) if m),
    ]
    known = [codec for label in labels if label and (codec := _codec(label))]
    return sorted(dict.fromkeys(known), key=lambda codec: codec not in (*_CJK_CODECS, "utf-8"))


def _codec(label: str) -> str | None:
    """Python's name of the encoding that a label means on the web; None for an unknown one."""
    label = label.strip().lower()
    if label in _ALIASES:
        return _ALIASES[label]
    try:
        found = codecs.lookup(label)
    except LookupError:
        return None
    if not getattr(found, "_is_text_encoding", True):  # "hex", "zip" and other transforms
        return None
    return _SUPERSETS.get(found.name, found.name)


def _is_utf8(data: bytes, claims: list[str]) -> bool:
    """True if the bytes are UTF-8, whatever they declare.

    Text in a legacy encoding is valid UTF-8 by accident only if it is very short; if a multi-byte
    encoding is declared, more than a handful of UTF-8 characters must contradict it.
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    if not claims or claims[0] not in _CJK_CODECS:
        return True
    return len(_MULTIBYTE_UTF8.findall(data[:SAMPLE])) > 4


def _looks_garbled(data: bytes) -> bool:
    """True if text declared as Western European has too many non-ASCII characters for it.

    Accented letters, quotation marks and symbols are at most one in five characters in any of these
    languages; in Cyrillic, Greek or East Asian text decoded as Western they are half or nearly all.
    """
    text = _without_markup(data).decode(_WESTERN, "replace")
    other = len(_NOT_PLAIN.findall(text))
    return other > (other + len(_PLAIN_LETTERS.findall(text))) / 3


def _detected(data: bytes, claims: list[str]) -> tuple[str, bool]:
    """The likeliest encoding, and whether another one is nearly as likely.

    chardet compares pairs of letters with those of each encoding's languages, and leaves out what
    seems impossible (a text in katakana). In a few words some languages look alike to it:
    "modalità" in Italian, "modalitа" in Macedonian. So its confidence is multiplied by the square
    of the likelihood that the decoded text is in a language of the encoding. Of 2,100 texts of one
    sentence or four rows (translated messages of programs, 35 pairs of language and encoding),
    this reads 99 % right and marks 9 % as guesses, among them 22 of the 27 wrong ones. chardet
    alone reads 95 % right, charset-normalizer 72 %.
    """
    from chardet import detect_all  # imported here because hardly any page needs it

    from bot.text.language import shares

    sample = _without_markup(data)
    lines = b"\n".join(line for line in sample.splitlines() if not line.isascii())[:_LOOKED_AT]
    if not _SPELLS.search(lines.decode(_WESTERN, "replace")):
        return claims[0] if claims else _WESTERN, False
    ranked = detect_all(sample, ignore_threshold=True, compat_names=False,
                        include_encodings=_LANGUAGES)  # fmt: skip
    confidences = {each["encoding"]: each["confidence"] for each in ranked}
    found = {"": (0.0, claims[0] if claims else _WESTERN)}
    for encoding, languages in _LANGUAGES.items():
        text = lines.decode(encoding, "replace")
        if text.count("\ufffd") > len(text) * _BAD_SHARE or _C1.search(text):
            continue
        spoken = shares(text)
        language = sum(spoken.get(tag, 0.0) for tag in languages.split())
        if languages == "ja" and "。" in text and not _KANA.search(text):
            language = 0.0  # sentences in Japanese have kana; Chinese read as Japanese has none
        confidence = confidences.get(encoding, _LEFT_OUT)
        score = confidence * (_UNKNOWN_LANGUAGE + language) ** 2
        found[text] = max(found.get(text, (0.0, "")), (score, encoding))
    (best, encoding), (second, _), *_ = *sorted(found.values(), reverse=True), (0.0, "")
    is_guessed = second > _UNSURE * best or not best
    return _SUPERSETS.get(codecs.lookup(encoding).name, encoding), is_guessed


def _without_markup(data: bytes) -> bytes:
    """A sample of a document's text: tags are ASCII and would hide its encoding."""
    return _MARKUP.sub(b" ", data[: 4 * SAMPLE])[:SAMPLE]
