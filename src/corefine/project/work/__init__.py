"""Who works on which document, and their sessions."""
