// Package registry has the end-to-end tests of the registry: its answers, its commands, its pages, and what it tells caches.
package registry
