"""One document's annotation: questions, answers, and what follows from them.

session                        the whole of it: asks, takes answers, undoes, and keeps the log
question, log, wording         questions and answers, the entries of the log, and both in words
revision, clustering           the prediction given the answers, and its clusters
chooser, selectors, sampling   which question comes next
groups, plausible              one question about equal words; what to ask where the model knows little
proposals, completed           annotating in full: what to mark, and what is marked completely
labels                         what training learns from a session
annotators, cost               who answers in a simulation, and the seconds that answers take
"""
