"""What the whole library shows: promises that no single part keeps."""
