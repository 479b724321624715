"""The rules, one file for each file of rules; and random graphs, rewritten and not."""
