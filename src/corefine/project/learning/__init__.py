"""The background process: predictions and training."""
