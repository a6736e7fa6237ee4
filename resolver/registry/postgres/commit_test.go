package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/postgres"
)

// brittleDialer makes connections that break at a commit: before or after it is sent.
type brittleDialer struct {
	sent  atomic.Bool // whether the commit is sent
	armed atomic.Bool
	away  atomic.Bool // whether new connections fail
}

type brittleConn struct {
	net.Conn
	*brittleDialer
}

func (b *brittleDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if b.away.Load() {
		return nil, errors.New("the server is away")
	}
	conn, err := dial(ctx, network, address)
	return brittleConn{conn, b}, err
}

// Write implements net.Conn.
func (c brittleConn) Write(p []byte) (int, error) {
	if !bytes.Contains(p, []byte("commit\x00")) || !c.armed.CompareAndSwap(true, false) {
		return c.Conn.Write(p)
	}
	if c.sent.Load() {
		if _, err := c.Conn.Write(p); err != nil {
			return 0, err
		}
		// The response shows that the server has committed.
		if _, err := c.Read(make([]byte, 1)); err != nil {
			return 0, err
		}
	}
	c.Close()
	return len(p), nil
}

func TestCommitWithoutAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	server := testserver.StartPostgres(t)
	for _, c := range []struct {
		name       string
		sent, away bool
		want       error
		there      bool
	}{
		{"urn:example:committed", true, false, nil, true},
		{"urn:example:lost", false, false, registry.ErrUnavailable, false},
		{"urn:example:unknown", true, true, postgres.ErrUnknownOutcome, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := new(brittleDialer)
			i := connect(t, server.URL(""), func(o *postgres.Options) { o.Dial = b.dial })
			defer i.store.Close()
			b.sent.Store(c.sent)
			b.armed.Store(true)
			b.away.Store(c.away)
			_, err := i.Apply(t.Context(), admin, edit(c.name, "https://example.org/"))
			if !errors.Is(err, c.want) || errors.Is(err, postgres.ErrUnknownOutcome) != c.away {
				t.Errorf("the error is %v, want %v", err, c.want)
			}
			b.away.Store(false)
			e, err := i.store.Lookup(t.Context(), registry.Name(c.name))
			if err != nil || e.Exists() != c.there {
				t.Errorf("it is there: %v, %v; want %v", e.Exists(), err, c.there)
			}
		})
	}
}

// TestRestart checks that a restart of the server between two queries goes unnoticed.
func TestRestart(t *testing.T) {
	server := testserver.StartPostgres(t)
	i := connect(t, server.URL(""))
	defer i.store.Close()
	name := registry.Name("urn:example:a")
	i.set(t, name.Name, "https://example.org/1")
	server.Stop()
	if _, err := i.store.Lookup(t.Context(), name); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("looking up while it is stopped: %v", err)
	}
	server.Start()
	if _, err := i.Apply(t.Context(), admin, edit(name.Name, "https://example.org/2")); err != nil {
		t.Errorf("writing: %v", err)
	}
	server.Kill()
	server.Start()
	if e, err := i.store.Lookup(t.Context(), name); err != nil || e.Version != 2 {
		t.Errorf("looking up: %+v, %v", e, err)
	}
	server.Stop()
	server.Start()
	if _, err := i.Get(t.Context(), name); err != nil {
		t.Errorf("getting: %v", err)
	}
}
