"""The optimum of one position: prefix distributions of the ratio order, selection, pools, races of drafts."""
