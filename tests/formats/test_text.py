"""Plain text: tokens and sentences by rule, offsets into the text as it stands."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from corefine.errors import Fault, InputError
from corefine.formats import read, read_all, write
from corefine.formats.tokens import tokenise


def test_tokens_sentences_and_offsets(tmp_path: Path) -> None:
    text = '\n CHAPTER I\n\nDr. Smith isn\'t here...  "Where\nis she?" Ann asked.\r\n'
    path = tmp_path / "a b.part2.txt"
    path.write_bytes(text.encode())
    (document,) = read(path)
    assert (document.name, document.part, document.text) == ("a b", 2, text)
    assert document.sentences[0] == ("CHAPTER", "I")
    assert document.sentences[1][:4] == ("Dr.", "Smith", "is", "n't")
    assert len(document.sentence_starts) == 3
    assert document.offsets is not None
    assert all(text[a:z] == token for token, (a, z) in zip(document.tokens, document.offsets, strict=True))
    write(document, tmp_path / "again.txt", lossy=True)
    assert (tmp_path / "again.txt").read_bytes() == path.read_bytes()


def test_a_byte_order_mark_and_crlf_stay_in_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfAnn\r\nran")
    faults: list[Fault] = []
    (document,) = read(tmp_path / "a.txt", on_fault=faults.append)
    assert document.text == "\ufeffAnn\r\nran"
    assert document.tokens == ("Ann", "ran")
    assert document.offsets == ((1, 4), (6, 9))
    assert [(fault.what, fault.line) for fault in faults] == [
        ("a byte order mark at the start", 1),
        ("lines end in CRLF", 1),
    ]


def test_bad_utf8_is_placed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo \xff")
    faults: list[Fault] = []
    assert read_all(tmp_path / "a.txt", on_fault=faults.append) == []
    assert (faults[0].line, faults[0].document) == (2, "a")
    assert "byte 0xff at byte 5 of the line" in faults[0].what


def test_languages(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("¿Dónde está? Aquí.")
    (document,) = read(tmp_path / "a.txt", language="es")
    assert (document.language, document.tokens[0], len(document.sentence_starts)) == ("es", "¿", 2)
    for unknown in ("qq", "../x"):
        with pytest.raises(InputError, match="no rules for the language"):
            read_all(tmp_path / "a.txt", language=unknown)


def test_text_without_spaces_is_split_into_characters() -> None:
    """One Chinese paragraph was a single token."""
    words = tokenise("他走进房间，看见Mary Ann。她没有说话！", None)
    assert words.tokens[:7] == ("他", "走", "进", "房", "间", "，", "看")
    assert words.tokens[8:10] == ("Mary", "Ann")
    assert [words.tokens[start] for start in words.sentence_starts] == ["他", "她"]
    assert tokenise("彼はマリアを見た。", None).tokens == ("彼", "は", "マリア", "を", "見", "た", "。")
    assert tokenise("ฉันรัก", "th").tokens == ("ฉั", "น", "รั", "ก")
    assert tokenise("그는 방에 들어갔다.", None).tokens == ("그는", "방에", "들어갔다", ".")


@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff"])
def test_no_words(text: str) -> None:
    assert tokenise(text, None) == ((), (), ())


def test_cuts_divide_tokens() -> None:
    words = tokenise("catlover cat", None, cuts=[0, 3, 8, 99])
    assert words.tokens == ("cat", "lover", "cat")
    assert str(words.span([(3, 12)])) == "1-2"
    assert str(words.span([(0, 3), (9, 12)])) == "0-0+2-2"
    assert words.span([(8, 9)]) is None


@pytest.mark.parametrize("sign", ["(", ")", "a", "a.", "http://", " ", "\n", "'", "́"])
def test_no_text_takes_more_than_linear_time(sign: str) -> None:
    """spaCy alone takes a minute for 20,000 opening brackets, and four times as long for twice as many."""
    text = "".join(f"{sign}{number % 7 or ''}" if number % 50 == 0 else sign for number in range(60_000 // len(sign)))
    began = time.process_time()
    words = tokenise(text, None)
    assert time.process_time() - began < 20
    assert sum(map(len, words.tokens)) == len("".join(text.split()))
