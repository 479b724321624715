"""The rules: the rewrites themselves, in files named after what they rewrite."""
