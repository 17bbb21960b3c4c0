"""Checking, repairing, backing up and restoring a project."""
