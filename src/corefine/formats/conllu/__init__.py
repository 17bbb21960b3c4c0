"""CoNLL-U with the `Entity` attribute of CorefUD."""
