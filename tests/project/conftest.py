from projects import database_url, postgres_server, project, sqlite_project

__all__ = ["database_url", "postgres_server", "project", "sqlite_project"]
