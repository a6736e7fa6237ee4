//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
)

// serveRedirect is the least that a server in Go does for a redirect, by TLS and HTTP/2 at the first address and without TLS at the
// second one: it redirects each request to the same place, by net/http. The file has the certificate and its key.
func serveRedirect(secure, plain, file, location string) error {
	var config net.ListenConfig
	byTLS, err := config.Listen(context.Background(), "tcp", secure)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	without, err := config.Listen(context.Background(), "tcp", plain)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // it is measured, and meets no strangers
		http.Redirect(w, r, location, http.StatusFound) // with a short body, as the others
	})}
	failed := make(chan error, 2)
	go func() { failed <- server.ServeTLS(byTLS, file, file) }()
	go func() { failed <- server.Serve(without) }()
	return <-failed
}
