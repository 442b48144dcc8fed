"""Models as they are served: SavedModels over ids and over text."""
