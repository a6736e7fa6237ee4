package store

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/postgres"
)

// postgresConnect is the time to connect to one address of a PostgreSQL server.
const postgresConnect = 5 * time.Second

// openPostgres opens the store of a configuration in PostgreSQL.
func openPostgres(ctx context.Context, c config.Registry) (registry.Store, error) {
	return postgres.Open(ctx, c.Store, optionsOf(c))
}

// TryPostgres asks the database of a configuration, or the replica of it, whether it could be used, and changes nothing.
func TryPostgres(ctx context.Context, c config.Registry, isReplica bool) (postgres.Server, error) {
	url := c.Store
	if isReplica {
		url = c.Replica
	}
	return postgres.Try(ctx, url, isReplica, optionsOf(c))
}

func optionsOf(c config.Registry) postgres.Options {
	return postgres.Options{
		Replica: c.Replica, Dial: dialPostgres, Now: time.Now,
		Password: func() (string, error) { return postgresPassword(c.Password) },
	}
}

// dialPostgres connects to a configured server, wherever it is: no client can choose it.
func dialPostgres(ctx context.Context, network, address string) (net.Conn, error) {
	if network == "unix" {
		return netguard.Socket(postgresConnect, address)(ctx, network, address)
	}
	guard := netguard.Configured(postgresConnect)
	return guard.DialContext(ctx, network, address)
}

// postgresPassword reads the file of the password. A credential exists for the daemon alone: commands
// take the password as psql does, from PGPASSWORD or ~/.pgpass.
func postgresPassword(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	text, err := secret.Read("registry.password", name)
	if errors.Is(err, secret.ErrNoCredentials) {
		return "", nil
	}
	return strings.TrimRight(string(text), "\r\n"), err
}
