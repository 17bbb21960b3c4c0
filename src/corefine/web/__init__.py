"""The annotation app's server: the API over a project, and the page that uses it."""
