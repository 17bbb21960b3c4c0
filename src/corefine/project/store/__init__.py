"""What a project stores in its database and folder."""
