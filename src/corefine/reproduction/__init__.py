"""The paper's experiments: which runs they are, and the report on them."""
