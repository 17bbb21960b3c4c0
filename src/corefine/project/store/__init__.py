"""What a project keeps in its database and folder."""
