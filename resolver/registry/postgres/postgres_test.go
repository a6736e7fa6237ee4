package postgres_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/postgres"
	"github.com/urnd/urnd/resolver/registry/registrytest"
)

// dial connects to servers of the test.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// open opens a store, which the caller must close.
func open(t *testing.T, url string, options ...func(*postgres.Options)) *postgres.Store {
	t.Helper()
	o := postgres.Options{Dial: dial, Now: time.Now}
	for _, option := range options {
		option(&o)
	}
	s, err := postgres.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	server := testserver.StartPostgres(t)
	databases := 0
	registrytest.Run(t, func(t *testing.T) registrytest.Database {
		databases++
		name := fmt.Sprintf("names%d", databases)
		server.Create(name)
		return registrytest.Database{
			Connect: func() registry.Store { return open(t, server.URL(name)) },
			Exec:    func(statement string) { execute(t, server.URL(name), statement) },
		}
	})
}

// execute runs a statement in a database. Its error is logged only.
func execute(t *testing.T, url, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Log(err)
	}
}
