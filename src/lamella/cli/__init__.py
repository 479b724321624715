"""The lamella command: the demonstration, a check of the installation, and the cache's housekeeping."""
