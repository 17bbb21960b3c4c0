"""Small files of the oldest formats, with one of everything, and snippets to damage them with."""

from __future__ import annotations

CONLL = """#begin document (nw/a (b)); part 001
nw/a 1 0 Ann NNP (S* - - - Bo * (1|(2
nw/a 1 1 met VBD * - - - Bo * 2)

nw/a\t1\t0\the\tPRP\t*\t-\t-\t-\t-\t*\t(1)1)|(3(3
nw/a\t1\t1\t.\t.\t*\t-\t-\t-\t-\t*\t3)3)
#end document
#begin document (x);
0\tword\t(a-1)
1\tword\t-\t
"""

CONLLU = """# newdoc id = a
# global.Entity = eid-etype-head-other
# meta::genre = news
# speaker = Ann
# text = del el
1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\t_\t_\t2\tcase\t_\tEntity=(e1-person-1-x:y(e2[1/2]--1)
2\tel\tel\tDET\t_\t_\t0\troot\t_\tEntity=e1)|SpaceAfter=No
2.1\t_\t_\tPRON\t_\t_\t_\t_\t0:x\tEntity=(e1-person-1)
3\tc\tc\tX\t_\t_\t0\troot\t_\tEntity=(e2[2/2]--1)

# newdoc id = b
# part = 3
1\tde\tde\tADP\t_\t_\t2\tcase\t_\t_

"""

JSONL = """{"doc_key": "a", "sentences": [["Ann", "met"], ["her"]], "clusters": [[[0, 0], [2, 2]]], "speakers": [["x", "x"], ["-"]]}
{"doc_key": "b_1", "name": "b", "part": 1, "tokens": ["a", "b", "c"], "clusters": [[[0, 2]], []], "split": "dev",
{"text": "Ann met her.", "clusters": [[[0, 3], [8, 11]]], "clusters_strings": [["Ann", "her"]], "lang": "en"}
{"doc_key": "d", "sentences": [["a", "b", "c"]], "clusters": [[[0, 2]]], "discontinuous": [{"cluster": 0, "parts": [[0, 0], [2, 2]], "hull_in_clusters": true}], "extra": {"conllu": {"rows": [[0, 1, "1-2", "a"]], "mentions": [["z0-1", "e1"]]}}, "layers": {"xpos": [["A", "B", "C"]]}, "text": "abc", "offsets": [[0, 1], [1, 2], [2, 3]]}
"""  # noqa: E501

TEXT = "Ann met her sister. She was (very) glad!\r\n\r\nAt http://a.b/c?d they parted...\n"

ANN = """T1\tPerson 0 3\tAnn
T2\tPerson 8 11\ther
T3\tPerson 20 23;31 39\tShe (very)
*\tEquiv T1 T2
R1\tCoref Arg1:T3 Arg2:T1\t
A1\tNegation T1
#1\tAnnotatorNotes T1\tyes
"""

SAMPLES = {"conll": CONLL, "conllu": CONLLU, "jsonl": JSONL, "text": TEXT, "brat": ANN}
SNIPPETS = [
    b"(",
    b")",
    b"|",
    b"-",
    b"\t",
    b"\n",
    b"\r\n",
    b"\n\n",
    b" ",
    b"(1",
    b"1)",
    b"[1/2]",
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
]
SNIPPETS += [
    b"\\ud800",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\x00",
    b"\x1f\x8b",
    b"0",
    b"-1",
    b"9" * 30,
    b"1e9",
    b"null",
]
SNIPPETS += [
    b"# newdoc",
    b"#begin document (",
    b"#end document",
    b"Entity=",
    b"T1",
    b";",
    b"#",
    b"_",
    b"*",
    b"z0",
    b"\xe2\x80\xa8",
]
