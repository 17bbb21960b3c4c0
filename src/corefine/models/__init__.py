"""The coreference model: encoders, the span ranker over their states, and what trains and runs them.

One module a stage: `encoders/` (tokens -> states), `inputs` (what the head reads), `spans` (all spans, their mention
scores, the top spans), `pairs` (each top span against its candidates), `ranker` (the stages together), `loss`.
Importing this package does not import torch; its modules do.
"""
