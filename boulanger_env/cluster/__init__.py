"""Long runs in pieces, over processes or a Ray cluster, which resume where they were interrupted."""
