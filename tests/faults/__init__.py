"""Faults that users of this family of libraries have reported, each as a check that it cannot happen here."""
