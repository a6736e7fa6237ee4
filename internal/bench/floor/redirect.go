//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
)

// serveRedirect is the least that a server in Go does for a redirect by TLS, by HTTP/1.1 and HTTP/2: it redirects each request to the
// same place, by net/http. The file has the certificate and its key.
func serveRedirect(address, file, location string) error {
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // it is measured, and meets no strangers
		http.Redirect(w, r, location, http.StatusFound) // with a short body, as the others
	})}
	return server.ServeTLS(l, file, file)
}
