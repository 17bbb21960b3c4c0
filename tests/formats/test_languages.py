"""The language of a text, by script and common words."""

from __future__ import annotations

import pytest

from corefine.formats.languages import NAMES, detect, language_name


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("She saw that the old man was in the house, and he had not seen her.", "en"),
        ("Hij zag dat de oude man in het huis was, en zij had hem niet gezien.", "nl"),
        ("Er sah, dass der alte Mann in dem Haus war, und sie hatte ihn nicht gesehen.", "de"),
        ("Elle a vu que le vieil homme était dans la maison, et il ne l'avait pas vue.", "fr"),
        ("Он увидел, что она была в доме, и не сказал ей ничего.", "ru"),
        ("Він побачив, що вона була в цьому будинку, і нічого їй не сказав.", "uk"),
        ("دخل الرجل الغرفة ورأى مريم جالسة عند النافذة، ولم تقل شيئا.", "ar"),
        ("הוא ראה שהיא בבית ולא אמר דבר.", "he"),
        ("他走进房间，看见玛丽坐在窗边。", "zh"),
        ("他说 Hello world 你好。", "zh"),
        ("彼は部屋に入って、マリアを見た。", "ja"),
        ("그는 방에 들어가 마리아를 보았다.", "ko"),
        ("John Smith, Berlin 2020", None),
        ("her her her a-b a-b", None),
        ("", None),
        ("1 2 3 ...", None),
    ],
)
def test_detects(text: str, language: str | None) -> None:
    assert detect(text) == language


def test_names() -> None:
    assert (language_name("nl"), language_name("zh-Hans"), language_name("tlh")) == ("Dutch", "Chinese", "tlh")
    assert all(name for name in NAMES.values())
