"""The network: encoders, and the span ranker over their states."""
