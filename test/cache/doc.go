// Package cache has the end-to-end tests of the caches: what is stored, shown, purged, refreshed and kept over a restart.
package cache
