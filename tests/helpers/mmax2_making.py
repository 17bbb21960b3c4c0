"""The files of an MMAX2 project, as the tool lays them out."""

from __future__ import annotations

PROJECT = """<?xml version="1.0" encoding="UTF-8"?>
<mmax_project>
<turns></turns>
<words>{words}</words>
<gestures></gestures>
<keyactions></keyactions>
<views><stylesheet>style.xsl</stylesheet></views>
</mmax_project>
"""
PATHS = """<?xml version="1.0" encoding="UTF-8"?>
<common_paths>
<scheme_path>Schemes/</scheme_path>
<basedata_path>{words}</basedata_path>
<markable_path>{markables}</markable_path>
<annotations>
<level name="coref" schemefile="coref_scheme.xml">$_coref_level.xml</level>
</annotations>
</common_paths>
"""
WORDS = "Ann met old Bo , the baker . She ä left him .".split()
SENTENCES = [("word_1..word_8", {}), ("word_9..word_13", {})]
COREFERENCE = [
    ("word_1", {"coref_class": "set_1", "np_form": "ne"}),
    ("word_9", {"coref_class": "set_1", "np_form": "pron"}),
    ("word_3..word_4,word_6..word_7", {"coref_class": "set_2"}),
    ("word_12", {"coref_class": "set_2"}),
    ("word_6..word_7", {"coref_class": "empty"}),
]


def words_xml(words: list[str], encoding: str = "UTF-8") -> bytes:
    lines = [f'<word id="word_{number}">{word}</word>' for number, word in enumerate(words, start=1)]
    head = f'<?xml version="1.0" encoding="{encoding}"?>\n<!DOCTYPE words SYSTEM "words.dtd">\n<words>\n'
    return (head + "\n".join(lines) + "\n</words>\n").encode(encoding)


def level_xml(level: str, markables: list[tuple[str, dict[str, str]]]) -> bytes:
    lines = []
    for number, (span, attributes) in enumerate(markables):
        said = "".join(f' {name}="{value}"' for name, value in attributes.items())
        lines.append(f'<markable id="markable_{number}" span="{span}"{said} mmax_level="{level}"/>')
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE markables SYSTEM "markables.dtd">\n'
    return f'{head}<markables xmlns="www.eml.org/NameSpaces/{level}">\n{"".join(lines)}\n</markables>\n'.encode()


def project_xml(words: str) -> bytes:
    return PROJECT.format(words=words).encode()
