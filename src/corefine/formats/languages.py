"""Detects the language of a text by its script and its most common words. Nothing is downloaded.

The common words are the stop words that spaCy has for some 70 languages.
"""

from __future__ import annotations

import re
import runpy
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from corefine.document import Document

NAMES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "az": "Azerbaijani", "bg": "Bulgarian", "bn": "Bengali",
    "bo": "Tibetan", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "dsb": "Lower Sorbian",
    "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian",
    "fi": "Finnish", "fo": "Faroese", "fr": "French", "ga": "Irish", "gd": "Scottish Gaelic", "grc": "Ancient Greek",
    "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hsb": "Upper Sorbian", "ht": "Haitian Creole",
    "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese",
    "kmr": "Kurdish (Kurmanji)", "kn": "Kannada", "ko": "Korean", "ky": "Kyrgyz", "la": "Latin",
    "lb": "Luxembourgish", "lg": "Luganda", "lij": "Ligurian", "lt": "Lithuanian", "lv": "Latvian",
    "mk": "Macedonian", "ml": "Malayalam", "mr": "Marathi", "ms": "Malay", "nb": "Norwegian Bokmål", "ne": "Nepali",
    "nl": "Dutch", "nn": "Norwegian Nynorsk", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sa": "Sanskrit", "si": "Sinhala", "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian", "sr": "Serbian",
    "sv": "Swedish", "ta": "Tamil", "te": "Telugu", "th": "Thai", "ti": "Tigrinya", "tl": "Tagalog", "tn": "Tswana",
    "tr": "Turkish", "tt": "Tatar", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "yo": "Yoruba",
    "zh": "Chinese", "xx": "another language",
}  # fmt: skip
"""The languages that have rules, by their codes; "xx" has rules that fit most."""

SCRIPTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "cyrillic": ("\u0400-\u052f", ("ru", "uk", "bg", "sr", "mk", "ky", "tt")),
    "greek": ("\u0370-\u03ff\u1f00-\u1fff", ("el", "grc")),
    "arabic": ("\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff", ("ar", "fa", "ur")),
    "hebrew": ("\u0590-\u05ff", ("he",)),
    "devanagari": ("\u0900-\u097f", ("hi", "mr", "ne", "sa")),
    "ethiopic": ("\u1200-\u139f", ("am", "ti")),
    "armenian": ("\u0530-\u058f", ("hy",)),
    "bengali": ("\u0980-\u09ff", ("bn",)),
    "gujarati": ("\u0a80-\u0aff", ("gu",)),
    "tamil": ("\u0b80-\u0bff", ("ta",)),
    "telugu": ("\u0c00-\u0c7f", ("te",)),
    "kannada": ("\u0c80-\u0cff", ("kn",)),
    "malayalam": ("\u0d00-\u0d7f", ("ml",)),
    "sinhala": ("\u0d80-\u0dff", ("si",)),
    "thai": ("\u0e00-\u0e7f", ("th",)),
    "tibetan": ("\u0f00-\u0fff", ("bo",)),
    "hangul": ("\u1100-\u11ff\u3130-\u318f\uac00-\ud7af", ("ko",)),
    "kana": ("\u3040-\u30ff\uff66-\uff9f", ("ja",)),
    "han": ("\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff", ("zh",)),
}
"""The characters of each script except Latin, and the languages written in it."""

SAMPLE = 30_000
"""How many characters are examined."""
FEWEST_WORDS, FEWEST_DIFFERENT = 5, 4
LEAST_SHARE = 0.12
"""How many common words of a language a text must have, as a number and as a share of its words."""
LEAST_KANA = 0.05
"""The smallest share of kana in a Japanese text."""

_OF_SCRIPT = {name: re.compile(f"[{characters}]") for name, (characters, _) in SCRIPTS.items()}
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def language_name(code: str) -> str:
    """The English name of a language, or the code itself."""
    return NAMES.get(code.lower().replace("_", "-").partition("-")[0], code)


def is_english_code(code: str) -> bool:
    """Whether this is the code of English, with or without a region."""
    return code.lower().replace("_", "-").partition("-")[0] == "en"


def detect(text: str) -> str | None:
    """The language code of a text; None if it cannot be told."""
    sample = text[:SAMPLE]
    letters = len(_LETTER.findall(sample))
    counts = {name: len(pattern.findall(sample)) for name, pattern in _OF_SCRIPT.items()}
    if counts["kana"] and counts["kana"] >= LEAST_KANA * (counts["kana"] + counts["han"]):
        counts["kana"] += counts.pop("han")
    script, most = max(counts.items(), key=lambda pair: pair[1])
    weight = 3 if script in ("han", "kana") else 1  # words are shorter there
    if 2 * weight * most > letters + (weight - 1) * most:
        candidates = SCRIPTS[script][1]
        return candidates[0] if len(candidates) == 1 else _by_words(sample, candidates) or candidates[0]
    return _by_words(sample, _latin()) if letters else None


def with_language(document: Document) -> Document:
    """The document with its detected language, if it names none and one is found."""
    if document.language is not None:
        return document
    return replace(document, language=detect(document.text or " ".join(document.tokens[:SAMPLE])))


def _by_words(text: str, candidates: Iterable[str]) -> str | None:
    """The candidate whose common words make up most of the text. Words shared by many languages count less."""
    words = Counter(word.lower() for word in _WORD.findall(text))
    owners: Counter[str] = Counter()
    common = {code: common_words(code) & words.keys() for code in candidates}
    for found in common.values():
        owners.update(found)
    scores = {code: sum(words[word] / owners[word] ** 0.5 for word in found) for code, found in common.items()}
    best = max(scores, key=lambda code: scores[code])
    hits = sum(words[word] for word in common[best])
    enough = hits >= FEWEST_WORDS and len(common[best]) >= FEWEST_DIFFERENT
    return best if enough and hits >= LEAST_SHARE * words.total() else None


@lru_cache(maxsize=1)
def _latin() -> tuple[str, ...]:
    others = {code for _, codes in SCRIPTS.values() for code in codes} - {"sr"}
    return tuple(code for code in NAMES if code not in others and common_words(code))


@cache
def common_words(code: str) -> frozenset[str]:
    """The most common words of a language, in lower case: spaCy's stop words; empty if it has no list.

    Only their file is read, because loading a whole language takes long.
    """
    package = find_spec("spacy")
    if package is None or package.origin is None:
        return frozenset()
    path = Path(package.origin).with_name("lang") / code / "stop_words.py"
    if not path.is_file():
        return frozenset()
    return frozenset(word.lower() for word in runpy.run_path(str(path))["STOP_WORDS"])
