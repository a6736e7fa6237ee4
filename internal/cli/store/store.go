// Package store opens the store of the registry that a configuration names, for the daemon and for commands.
// The settings of the registry enter, and a registry.Store leaves: a SQLite file, or a PostgreSQL database
// with its password. It implements no RFC.
package store

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/postgres"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// Open opens the store of a configuration. A missing file is created.
func Open(ctx context.Context, c config.Registry) (registry.Store, error) {
	if path, ok := cli.StoreFile(c.Store); ok {
		s, err := sqlite.Open(ctx, path)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	return openPostgres(ctx, c)
}

// CheckLost returns an error if the database file of a configuration is missing, but existed before. state is the
// state directory of the service, "" for none.
func CheckLost(c config.Registry, state string) error {
	if path, ok := cli.StoreFile(c.Store); ok {
		return sqlite.CheckLost(path, state)
	}
	return nil
}

// Opener returns a function that opens the store of a configuration. It fails if the file is lost, or if it
// must exist and does not. The existence of the file is recorded in the directory state, unless that is "".
// made is called with a file that was created.
func Opener(
	c config.Registry, state string, made func(file string),
) func(ctx context.Context, mustExist bool) (registry.Store, error) {
	return func(ctx context.Context, mustExist bool) (registry.Store, error) {
		if err := CheckLost(c, state); err != nil {
			return nil, err
		}
		if path, ok := cli.StoreFile(c.Store); ok && mustExist {
			if err := sqlite.CheckExists(path); err != nil {
				return nil, err
			}
		}
		s, err := Open(ctx, c)
		if file, ok := s.(*sqlite.Store); ok && err == nil {
			if file.Created() {
				made(file.Path())
			}
			if state != "" && !mustExist { // a command records nothing: it may run as another user
				_ = sqlite.RecordPath(file.Path(), state)
			}
		}
		return s, err
	}
}

// postgresConnect is the timeout for connecting to one address of a PostgreSQL server.
const postgresConnect = 5 * time.Second

// openPostgres opens the PostgreSQL store of a configuration.
func openPostgres(ctx context.Context, c config.Registry) (registry.Store, error) {
	return postgres.Open(ctx, c.Store, optionsOf(c))
}

// ProbePostgres tests whether the database of a configuration, or its replica, is usable, without changing it.
func ProbePostgres(ctx context.Context, c config.Registry, replica bool) (postgres.Server, error) {
	url := c.Store
	if replica {
		url = c.Replica
	}
	return postgres.Probe(ctx, url, replica, optionsOf(c))
}

func optionsOf(c config.Registry) postgres.Options {
	return postgres.Options{
		Replica: c.Replica, Dial: dialPostgres, Now: time.Now,
		Password: func() (string, error) { return postgresPassword(c.Password) },
	}
}

// dialPostgres connects to a configured server at any address: clients cannot choose it.
func dialPostgres(ctx context.Context, network, address string) (net.Conn, error) {
	if network == "unix" {
		return netguard.Socket(postgresConnect, address)(ctx, network, address)
	}
	guard := netguard.NewUnrestricted(postgresConnect)
	return guard.DialContext(ctx, network, address)
}

// postgresPassword reads the password file. A systemd credential exists for the daemon only: commands take
// the password from PGPASSWORD or ~/.pgpass, like psql.
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
