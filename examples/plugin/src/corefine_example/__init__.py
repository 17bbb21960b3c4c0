"""One part of each kind that corefine takes from other packages."""
