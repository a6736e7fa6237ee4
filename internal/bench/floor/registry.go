//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// names implements the minimal work of a Go resolver for a name in the registry: net/http, and the prepared
// statement of the store. It has no cache, and only supports the canonical form of names.
type names struct{ store *sqlite.Store }

// serveNames responds to requests for the names of a store until a listener fails.
func serveNames(addresses []string, path string) error {
	store, err := sqlite.Open(context.Background(), path)
	if err != nil {
		return fmt.Errorf("opening the registry: %w", err)
	}
	defer store.Close()
	failed := make(chan error, len(addresses))
	for _, address := range addresses {
		l, err := net.Listen("tcp", address) //nolint:noctx // listens until the process ends
		if err != nil {
			return fmt.Errorf("listening: %w", err)
		}
		go func() { failed <- http.Serve(l, names{store}) }() //nolint:gosec // only for measurements on loopback
	}
	return <-failed
}

// ServeHTTP implements http.Handler.
func (n names) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e, err := n.store.Lookup(r.Context(),
		registry.Key{Kind: registry.KindName, Name: strings.TrimPrefix(r.URL.Path, "/")})
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case len(e.Targets) == 0:
		http.NotFound(w, r)
	default:
		w.Header().Set("Location", e.Targets[0].URI)
		w.WriteHeader(http.StatusFound)
	}
}
