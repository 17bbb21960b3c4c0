"""What comes out of a project: merged answers, agreement, statistics, exports."""
