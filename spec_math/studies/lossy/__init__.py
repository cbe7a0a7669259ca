"""What rules that are lossy on purpose gain, at which distance, and what any rule could gain at that distance."""
