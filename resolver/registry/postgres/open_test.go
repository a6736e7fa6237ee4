package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/postgres"
	"github.com/urnd/urnd/resolver/registry/registrytest"
)

// TestOpenTogether opens an empty database by several instances at the same time.
func TestOpenTogether(t *testing.T) {
	server := testserver.StartPostgres(t)
	url := server.URL("") + "&pool_max_conns=1"
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			s, err := postgres.Open(t.Context(), url, postgres.Options{Dial: dial, Now: time.Now})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := s.Head(t.Context()); err != nil {
				t.Error(err)
			}
			s.Close()
		})
	}
	all.Wait()
}

func TestOpenErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	const secret = "hunter2secret"
	server := testserver.StartPostgres(t)
	server.Create("newer")
	open(t, server.URL("newer")).Close()
	server.Query("newer", "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)")
	server.Query("", "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
	server.Query("", "CREATE ROLE reader LOGIN")
	const noRight = "permission denied for schema public"
	for _, c := range []struct {
		name, url string
		want      error
		message   string
	}{
		{"newer", server.URL("newer"), registry.ErrSchema, "schema 99, this version supports 1"},
		{"encoding", server.URL("latin"), registry.ErrUnavailable, "ENCODING 'UTF8'"},
		{"no database", server.URL("none"), registry.ErrUnavailable, `database "none" does not exist`},
		{"no right", strings.Replace(server.URL(""), "postgres@", "reader@", 1), registry.ErrUnavailable, noRight},
		{"no server", "postgres://urnd@127.0.0.1:1/names", registry.ErrUnavailable, "connection refused"},
		{
			"password", "postgres://urnd:" + secret + "@127.0.0.1:1/names", registry.ErrUnavailable,
			"database URL with a password",
		},
		{
			"password as a parameter", "postgres://urnd@127.0.0.1:1/names?password=" + secret, registry.ErrUnavailable,
			"database URL with a password",
		},
		{
			"slash in a password", "postgres://urnd:" + secret + "/x@127.0.0.1:1/names", registry.ErrUnavailable,
			"invalid database URL",
		},
		{
			"bad parameter", "postgres://urnd@127.0.0.1:1/names?sslmode=" + secret, registry.ErrUnavailable,
			"invalid database URL",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := postgres.Options{Dial: dial, Now: time.Now, Password: func() (string, error) { return secret, nil }}
			_, err := postgres.Open(t.Context(), c.url, o)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.message) {
				t.Errorf("the error is %v, want %v with %q", err, c.want, c.message)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error has the password: %v", err)
			}
			message := c.message
			if message == noRight { // Probe does not create the schema
				message = "grant CREATE on the schema to the user"
			}
			_, err = postgres.Probe(t.Context(), c.url, false, o)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), message) ||
				strings.Contains(err.Error(), secret) {
				t.Errorf("trying it: %v, want %v with %q", err, c.want, message)
			}
		})
	}
}

// TestPassword checks that the password of Options is used, and requested for each connection.
func TestPassword(t *testing.T) {
	server := testserver.StartPostgres(t)
	server.Query("", "CREATE ROLE urnd LOGIN PASSWORD 'first'")
	server.Query("", "CREATE DATABASE names OWNER urnd")
	server.RequirePassword("urnd")
	url := strings.Replace(server.URL("names"), "postgres@", "urnd@", 1)
	password := "first"
	o := postgres.Options{Dial: dial, Now: time.Now, Password: func() (string, error) { return password, nil }}
	s, err := postgres.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	server.Query("", "ALTER ROLE urnd PASSWORD 'second'")
	password = "second"
	server.Stop()
	server.Start()
	if _, err := s.Head(t.Context()); err != nil {
		t.Errorf("with a new password: %v", err)
	}
	password = "battery staple"
	_, err = postgres.Open(t.Context(), url, o)
	if !errors.Is(err, registry.ErrUnavailable) || strings.Contains(err.Error(), password) {
		t.Errorf("with the wrong password: %v", err)
	}
}

func TestTexts(t *testing.T) {
	server := testserver.StartPostgres(t)
	s := open(t, server.URL(""))
	defer s.Close()
	for _, name := range []string{
		"urn:example:\x00", "urn:example:\xff",
		"urn:example:" + strings.Repeat("a", registry.MaxKey),
	} {
		err := s.Write(t.Context(), func(tx registry.WriteTx) error {
			return registrytest.Append(tx, registry.Entry{Key: registry.Name(name), Version: 1})
		})
		if !errors.Is(err, registry.ErrInvalid) {
			t.Errorf("appending %.20q: %v", name, err)
		}
		err = s.Write(t.Context(), func(tx registry.WriteTx) error {
			return tx.Put(registry.TableMarks, []registry.Document{{Key: name, Value: []byte("x")}})
		})
		if !errors.Is(err, registry.ErrInvalid) {
			t.Errorf("putting %.20q: %v", name, err)
		}
		if e, err := s.Lookup(t.Context(), registry.Name(name)); e.Exists() || err != nil {
			t.Errorf("looking up %.20q: %+v, %v", name, e, err)
		}
	}
}

// TestCanceled checks that a canceled wait for other writers leaves nothing behind.
func TestCanceled(t *testing.T) {
	server := testserver.StartPostgres(t)
	s := open(t, server.URL(""))
	defer s.Close()
	other := open(t, server.URL(""))
	defer other.Close()
	ctx, cancel := context.WithCancel(t.Context())
	err := other.Write(t.Context(), func(registry.WriteTx) error {
		waiting := make(chan error)
		go func() {
			waiting <- s.Write(ctx, func(registry.WriteTx) error { t.Error("two writers at once"); return nil })
		}()
		testserver.Wait(t, "the other waits", func() bool {
			return server.Query("", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == "1"
		})
		cancel()
		return <-waiting
	})
	if !errors.Is(err, context.Canceled) || !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("the error is %v", err)
	}
	if err := s.Write(t.Context(), func(registry.WriteTx) error { return nil }); err != nil {
		t.Errorf("the next write: %v", err)
	}
}
