"""The coreference model. Importing this package does not import torch; most of its modules do.

network     encoders, and the span ranker over their states
training    labels to weights: the loss, the loop, recipes and jobs
storage     models on disk
"""
