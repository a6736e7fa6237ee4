//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
)

// serveRedirect implements the minimal work of a Go server for a redirect, with TLS and HTTP/2 on the first
// address and without TLS on the second: net/http redirects each request to the same location. file contains
// the certificate and its key.
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
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // on loopback
		http.Redirect(w, r, location, http.StatusFound) // with a short body like the others
	})}
	failed := make(chan error, 2)
	go func() { failed <- server.ServeTLS(byTLS, file, file) }()
	go func() { failed <- server.Serve(without) }()
	return <-failed
}
