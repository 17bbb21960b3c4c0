"""Simulated active learning: gold labels answer the questions, and the time of annotation is counted.

`loop` is the method, and `config` has its settings. `splits` plans the documents of a run, `annotating` asks about
them, and `learners` trains. `runs` keeps one run on disk, `grid` runs many, and `summary` makes records of them.
"""
