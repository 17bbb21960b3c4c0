from projects import browser, database_url, postgres_server, project, sqlite_project

__all__ = ["browser", "database_url", "postgres_server", "project", "sqlite_project"]
