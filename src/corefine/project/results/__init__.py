"""Results of a project: merged answers, agreement, statistics, exports."""
