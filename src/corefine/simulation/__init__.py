"""Active learning, simulated: gold labels play the annotator, and the hours are counted.

`loop` is the method; `config` its settings; `asking` the questions of one document; `budget` and `baselines` what
things may cost; `learner` (protocol) and `neural` what learns; `runs` one run on disk; `grid` many of them;
`summary`, `figures` and `report` what came out.
"""
