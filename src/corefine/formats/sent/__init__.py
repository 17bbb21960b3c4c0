"""Files that people send to a server: unpacked and read in a process of their own, so that answers do not wait."""
