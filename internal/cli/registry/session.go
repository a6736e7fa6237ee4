package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/audit"
	"github.com/urnd/urnd/resolver/registry/service"
	"github.com/urnd/urnd/systemd"
)

// session is a registry that a command has opened, with its use cases for the one who uses the command. It is closed once.
type session struct {
	*service.Service
	actor  registry.Actor
	names  resolver.Names
	config config.Config
	store  registry.Store // for what is done to all of it: backups
}

// newSession returns a session with a store, in which changes are logged. log may be nil.
func newSession(w Wiring, c config.Config, store registry.Store, log *slog.Logger) (*session, error) {
	names, err := w.Names(c)
	if err != nil {
		return nil, err
	}
	cases := service.New(service.Config{
		Registry: w.New(store, names, log), Unbounded: true, Created: audit.Created(log), Revoked: audit.Revoked(log),
	})
	return &session{cases, actor(), names, c, store}, nil
}

// close closes the store. What was written is committed before, whatever that returns.
func (s *session) close() { _ = s.store.Close() }

// key returns the canonical key that an argument means. What is wrong with it is an error of usage.
func (s *session) key(name string, prefix bool) (registry.Key, error) {
	key := registry.Name(name)
	if prefix {
		key = registry.Prefix(name)
	}
	key, err := s.KeyOf(s.actor, service.ToRead, key)
	return key, usageOf(err)
}

// keys is key for several arguments.
func (s *session) keys(names []string, prefix bool) ([]registry.Key, error) {
	keys := make([]registry.Key, len(names))
	for i, name := range names {
		var err error
		if keys[i], err = s.key(name, prefix); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// size returns how many names and prefixes begin with a text, 0 where that is not known.
func (s *session) size(ctx context.Context, below string) (int64, error) {
	if below != "" {
		return 0, nil
	}
	totals, err := s.Totals(ctx, s.actor, registry.Search{})
	t := totals.Total
	return t.Active + t.Reserved + t.Withdrawn + t.Prefixes, err
}

// usageOf makes an error of usage of one of what was given.
func usageOf(err error) error {
	if errors.Is(err, registry.ErrInvalid) {
		return cli.Usage(err)
	}
	return err
}

// actor returns who uses the command: whoever may write to the store may do all.
func actor() registry.Actor {
	name := os.Getenv("SUDO_USER")
	if u, err := user.Current(); name == "" && err == nil {
		name = u.Username
	}
	if name == "" {
		name = fmt.Sprintf("uid %d", os.Getuid())
	}
	return registry.Actor{Name: name, Role: registry.Admin}
}

// journal returns a log in the journal of systemd, where commands record what they change, as sudo does it; nil where there
// is none. The versions themselves say in any case by whom and when they were made.
func journal() *slog.Logger {
	to, err := systemd.NewJournal(slog.HandlerOptions{})
	if err != nil {
		return nil
	}
	return slog.New(to)
}
