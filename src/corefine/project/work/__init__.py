"""Who works on which document, and their sessions.

workspaces, workspace    everybody's work, and one person's: showing a question, taking an answer
open_document            a session rebuilt from the log
actions, edits, steps    results of actions, edits in a review, and the order of steps for undo
assignments, pace        who may work on which document, and how fast a person answers
imported_entities        entities that came with a document
"""
