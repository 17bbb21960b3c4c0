"""What people do in a project: who has which document, and their sessions."""
