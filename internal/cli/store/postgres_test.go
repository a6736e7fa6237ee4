package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli/store"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
)

// PostgreSQL stores of a configuration are reached by address, host name and Unix socket, with a password
// from a file.
func TestOpenPostgres(t *testing.T) {
	t.Setenv("PGPASSWORD", "")
	t.Setenv("PGPASSFILE", os.DevNull)
	server := testserver.StartPostgres(t)
	server.Query("", "CREATE ROLE urnd LOGIN PASSWORD 'correct horse'")
	server.Query("", "CREATE DATABASE names OWNER urnd")
	server.RequirePassword("urnd")
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("correct horse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(server.Addr(), ":")
	for _, c := range []struct {
		url, password string
		want          error
	}{
		{server.URLAt(server.Addr(), "names"), password, nil},
		{server.URLAt("localhost:"+port, "names"), password, nil},
		{strings.Replace(server.URL("names"), "postgres:", "postgresql:", 1), password, nil},
		{server.URL("names"), "", registry.ErrUnavailable},
		{server.URL("names"), filepath.Join(t.TempDir(), "none"), os.ErrNotExist},
		{server.URL("names"), "credential:registry-password", registry.ErrUnavailable},
	} {
		url := strings.Replace(c.url, "postgres@", "urnd@", 1)
		s, err := store.Open(t.Context(), config.Registry{Store: url, Replica: url, Password: c.password})
		if !errors.Is(err, c.want) {
			t.Errorf("%s, %s: %v, want %v", url, c.password, err, c.want)
		}
		if err != nil {
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "correct horse") {
				t.Errorf("the error is %q", err)
			}
			continue
		}
		if _, err := s.Lookup(t.Context(), registry.Name("urn:example:a")); err != nil {
			t.Errorf("%s: looking up: %v", url, err)
		}
		s.Close()
	}
}
