"""The paper's timing study with a project's own people."""
