package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/audit"
	"github.com/urnd/urnd/resolver/registry/service"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/systemd"
)

// session is a registry that a command has opened, with its use cases for the user of the command, and its
// output.
type session struct {
	*service.Service
	actor  registry.Actor
	names  resolver.Names
	config config.Config
	store  registry.Store // for operations on the whole store, such as backups

	cmd       *cobra.Command
	progress  *cli.Progress
	out, errs io.Writer // of the command, coordinated with its progress
}

// newSession returns a session on a store. Changes are logged to log, which may be nil.
func newSession(w Wiring, c config.Config, store registry.Store, log *slog.Logger) (*session, error) {
	names, err := w.Names(c)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	cases := service.New(service.Config{
		Registry: w.New(store, names, log), Unbounded: true, Created: audit.LogTokenCreated(log),
		Revoked: audit.LogTokenRevoked(log),
	})
	return &session{Service: cases, actor: actor(), names: names, config: c, store: store}, nil
}

// say prints a message for the user.
func (s *session) say(format string, of ...any) { fmt.Fprintf(s.errs, "urnd: "+format+"\n", of...) }

// close closes the store. Changes are committed before, so its error is ignored.
func (s *session) close() { _ = s.store.Close() }

// key returns the canonical key of an argument.
func (s *session) key(name string, prefix bool) (registry.Key, error) {
	key := registry.Name(name)
	if prefix {
		key = registry.Prefix(name)
	}
	return s.CanonicalKey(s.actor, service.ToRead, key)
}

// size returns the number of names and prefixes below a prefix, 0 if unknown.
func (s *session) size(ctx context.Context, below string) (int64, error) {
	if below != "" {
		return 0, nil
	}
	totals, err := s.Totals(ctx, s.actor, registry.Search{})
	t := totals.Total
	return t.Active + t.Reserved + t.Withdrawn + t.Prefixes, err
}

// storeFlags are the flags of all commands of the registry.
type storeFlags struct {
	settings *cli.Settings
	wiring   Wiring
	cmd      *cobra.Command
}

// errNone is the error of a configuration without store.
var errNone = errors.New("no registry is configured: set registry.store, " +
	"or use --store with sqlite:FILE or the URL of a PostgreSQL database")

// addStore adds the flags --config and --store to cmd.
func addStore(cmd *cobra.Command, w Wiring) *storeFlags {
	f := &storeFlags{cli.AddFile(cmd), w, cmd}
	addStoreFlag(cmd)
	return f
}

// addStoreFlag adds the flag --store to cmd.
func addStoreFlag(cmd *cobra.Command) {
	cmd.Flags().String("store", "", "use this `store`: sqlite:FILE or postgres://... (registry.store)")
}

// opening opens the store of a command. The caller closes the session.
type opening func(ctx context.Context, f *storeFlags) (*session, error)

// run makes the command open the store and call do, and returns the command: see with.
func (f *storeFlags) run(
	open opening, doing, stands string, do func(ctx context.Context, s *session, args []string) error,
) *cobra.Command {
	f.cmd.RunE = func(_ *cobra.Command, args []string) error {
		return f.with(open, doing, stands, func(ctx context.Context, s *session) error { return do(ctx, s, args) })
	}
	return f.cmd
}

// runName is run for a command on one name, or with --prefix on one prefix.
func (f *storeFlags) runName(
	doing, stands string, do func(ctx context.Context, s *session, key registry.Key) error,
) *cobra.Command {
	prefix := addPrefix(f.cmd)
	return f.run(existing, doing, stands, func(ctx context.Context, s *session, args []string) error {
		key, err := s.key(args[0], *prefix)
		if err != nil {
			return err
		}
		return do(ctx, s, key)
	})
}

// with opens the store, and calls do. doing describes the activity for progress, and stands the state after
// an interruption, unless the error describes it.
func (f *storeFlags) with(open opening, doing, stands string, do func(ctx context.Context, s *session) error) error {
	ctx := f.cmd.Context()
	p := cli.StartProgress(f.cmd, doing)
	defer p.End()
	s, err := open(ctx, f)
	if err != nil {
		return advised(p.InterruptedRestart(err, "%s", stands))
	}
	defer s.close()
	s.cmd, s.progress = f.cmd, p
	s.out, s.errs = p.Writer(f.cmd.OutOrStdout()), p.Writer(f.cmd.ErrOrStderr())
	return advised(p.InterruptedRestart(do(ctx, s), "%s", stands))
}

// advised makes errors of arguments usage errors, and adds hints to others.
func advised(err error) error {
	switch {
	case errors.Is(err, registry.ErrInvalid):
		return cli.Usage(err)
	case errors.Is(err, registry.ErrUnknown):
		return cli.Hint(err, "urnd registry search finds registered names")
	case errors.Is(err, registry.ErrConflict):
		return cli.Hint(err, "urnd registry get and history print the current entry: repeat the change with it")
	case errors.Is(err, registry.ErrReadOnly):
		return cli.Hint(err, "use the primary of the database as --store or registry.store")
	}
	return err
}

// existing opens the registry, which must exist: a new one at a mistyped path would look valid and empty.
func existing(ctx context.Context, f *storeFlags) (*session, error) { return f.open(ctx, mustExist) }

// made opens the registry, and creates it if it does not exist.
func made(ctx context.Context, f *storeFlags) (*session, error) {
	return f.open(ctx, func(string) error { return nil })
}

// dry is existing, or opens an empty temporary registry if there is none.
func dry(ctx context.Context, f *storeFlags) (*session, error) {
	c, err := f.load()
	if err != nil || f.wiring.CheckLost(c) != nil || mustExist(c.Registry.Store) == nil {
		return existing(ctx, f)
	}
	store, err := newTemporary(ctx)
	if err != nil {
		return nil, err
	}
	return newSession(f.wiring, c, store, nil)
}

// madeUnlessDry is made, or dry for a dry run.
func madeUnlessDry(isDry *bool) opening {
	return func(ctx context.Context, f *storeFlags) (*session, error) {
		if *isDry {
			return dry(ctx, f)
		}
		return made(ctx, f)
	}
}

// open opens the registry unless check returns an error for its store.
func (f *storeFlags) open(ctx context.Context, check func(store string) error) (*session, error) {
	c, err := f.load()
	if err == nil {
		err = f.wiring.CheckLost(c)
	}
	if err == nil {
		err = check(c.Registry.Store)
	}
	if err != nil {
		return nil, err
	}
	if c.Registry.Store == "" {
		return nil, errNone
	}
	store, err := f.wiring.Open(ctx, c.Registry)
	if err != nil {
		return nil, err
	}
	return newSession(f.wiring, c, store, journal())
}

// load returns the configuration, with the store of --store.
func (f *storeFlags) load() (config.Config, error) {
	return f.settings.Load(map[string]string{"registry.store": "store"})
}

// mustExist returns an error if a store is a missing file.
func mustExist(store string) error {
	if path, ok := cli.StoreFile(store); ok {
		return sqlite.CheckExists(path)
	}
	return nil
}

// actor returns the user of the command as an administrator: a user who can write to the store has all
// permissions.
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

// journal returns a log to the journal of systemd, in which commands record their changes, like sudo; nil
// without systemd. The author and time of a version are stored in the registry in any case.
func journal() *slog.Logger {
	to, err := systemd.NewJournal(slog.HandlerOptions{})
	if err != nil {
		return nil
	}
	return slog.New(to)
}

// unresolvableHelp is the help of --allow-unresolvable.
const unresolvableHelp = "accept names that the registry is not asked for (registry.owned), and that cannot be " +
	"resolved here"

// addPrefix adds the flag --prefix to cmd.
func addPrefix(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("prefix", false, "the name is a prefix, such as urn:nbn:fi:")
}

// addTime adds a time flag to cmd. parse determines whether a date means its first or its last moment.
func addTime(cmd *cobra.Command, at *time.Time, name, usage string, parse func(string) (time.Time, error)) {
	cli.AddParsed(cmd, at, name, usage, func(text string) (time.Time, error) {
		t, err := parse(text)
		return t.Truncate(time.Millisecond), err
	})
}

// addEncoding adds the flag --encoding to cmd.
func addEncoding(cmd *cobra.Command) *charset.Encoding {
	encoding := new(charset.Encoding)
	cli.AddParsed(cmd, encoding, "encoding",
		"`encoding` of the files, such as windows-1252, latin1 or utf-16le. Empty: UTF-8, or that of "+
			"the byte order mark or XML declaration", charset.Parse)
	cli.Complete(cmd, "encoding", "utf-8", "utf-16le", "utf-16be", "latin1", "windows-1252", "iso-8859-15", "shift_jis")
	return encoding
}

// addTempDir adds the flag --temp-dir to cmd.
func addTempDir(cmd *cobra.Command) *string {
	return cmd.Flags().String("temp-dir", "", "`directory` for sorting large files. Empty: TMPDIR or /tmp")
}
