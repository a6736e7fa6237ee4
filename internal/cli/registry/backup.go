package registry

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

var errNotAFile = errors.New("the store is a PostgreSQL database: use pg_dump and pg_restore, or backup --portable")

func newBackup(w Wiring) *cobra.Command {
	var force, portable bool
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the registry to a file while it is in use",
		Long: `Copy the registry, as it is at this moment, to a single file. urnd may be running, and names may
be changed meanwhile. FILE appears when it is complete, with mode 0600, and is read by verify and
restore. Its digest is written to FILE.sha256 then, as sha256sum -c reads it: take both away. Of a
PostgreSQL database pg_dump makes backups.

With --portable it is lines of JSON, which do not depend on the database: with the history, tokens,
counters and all else, to move the registry to another database. It is compressed if FILE ends in
.zst or .gz.`,
		Example: `  urnd registry backup /var/backups/registry.db
  urnd registry backup --force registry.db && urnd registry verify registry.db
  urnd registry backup --portable registry.ndjson.zst`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	cmd.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	cmd.Flags().BoolVar(&portable, "portable", false, "write lines of JSON that any database can be restored from")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := f.file()
		if portable && errors.Is(err, errNotAFile) {
			err = nil
		}
		if err != nil {
			return err
		}
		if err := checkBackupFile(path, args[0], force); err != nil {
			return cli.Usage(err)
		}
		return f.with(existing, "copying the registry", notBackedUp(args[0]),
			func(ctx context.Context, s *session) error {
				return s.backUp(ctx, args[0], portable)
			})
	}
	return cmd
}

// notBackedUp describes the state after a failed backup.
func notBackedUp(file string) string {
	return fmt.Sprintf("no backup was made, and an existing %s is unchanged", file)
}

// backUp writes a backup to a file.
func (s *session) backUp(ctx context.Context, to string, portable bool) (err error) {
	file, ok := s.store.(*sqlite.Store)
	if portable || !ok {
		err = s.dumpPortable(ctx, to)
	} else {
		err = file.Backup(ctx, to, func(done, all int) {
			s.progress.Show(cli.Step{
				Activity: "copying the registry", Done: int64(done), Total: int64(all),
				Unit: "pages",
			})
		})
	}
	if err != nil {
		return err
	}
	if ok { // metrics cover backups of database files only
		if err := s.Mark(ctx, registry.MarkBackup); err != nil { // only the metric is affected
			s.say("%v", err)
		}
	}
	info, err := os.Stat(to)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s: a backup of %d bytes\n", to, info.Size())
	return err
}

// checkBackupFile returns an error if a backup of a store must not overwrite a file.
func checkBackupFile(store, file string, force bool) error {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	used, err := os.Stat(store) // "" does not exist
	switch {
	case err == nil && os.SameFile(used, info):
		return fmt.Errorf("%s is the registry itself", file)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", file)
	case !force:
		return fmt.Errorf("%s exists: use --force to replace it", file)
	}
	return nil
}

// file returns the path of the store, which must be a file.
func (f *storeFlags) file() (string, error) {
	c, err := f.load()
	if err != nil {
		return "", err
	}
	path, ok := cli.StoreFile(c.Registry.Store)
	switch {
	case c.Registry.Store == "":
		return "", errNone
	case !ok:
		return "", errNotAFile
	}
	return path, nil
}

func newRestore(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore the registry from a backup",
		Long: `Restore the registry from a backup, after comparing it with its digest in FILE.sha256, if that
exists, and verifying it. urnd must not be running for the last step: verify FILE before you stop
it, so that it is not stopped for an invalid backup. The previous registry is preserved beside the
new one, with a name ending in .before-restore. FILE itself does not change.

A portable backup (backup --portable) can also be restored into an empty PostgreSQL database.`,
		Example: `  urnd registry verify /var/backups/registry.db && systemctl stop urnd.socket urnd &&
    urnd registry restore /var/backups/registry.db && systemctl start urnd
  urnd registry restore registry.ndjson.zst --store postgres://urnd@localhost/names`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p := cli.StartProgress(cmd, "copying the backup")
		defer p.End()
		portable, err := isPortable(args[0])
		if err != nil {
			return err
		}
		path, err := f.file()
		if errors.Is(err, errNotAFile) && portable {
			return f.with(existing, "copying the backup", "nothing was restored",
				func(ctx context.Context, s *session) error {
					return s.restore(ctx, args[0])
				})
		}
		if err != nil {
			return err
		}
		var kept string
		if portable {
			kept, err = sqlite.RestoreInto(cmd.Context(), path, func(s *sqlite.Store) error {
				return errors.Join(loadPortable(cmd.Context(), p, s, args[0]),
					verifyBackup(cmd.Context(), p, s, cmd.ErrOrStderr()))
			})
		} else {
			kept, err = sqlite.Restore(cmd.Context(), path, args[0],
				func(s *sqlite.Store) error { return verifyBackup(cmd.Context(), p, s, cmd.ErrOrStderr()) })
		}
		if errors.Is(err, registry.ErrDamaged) { // its error names the copy
			err = fmt.Errorf("%s is not a valid backup: %w", args[0], err)
		}
		if err != nil {
			return p.InterruptedRestart(err, "nothing was restored, and the registry is unchanged")
		}
		p.End()
		fmt.Fprintf(cmd.OutOrStdout(), "%s was restored from %s\n", path, args[0])
		if kept != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "the previous registry is now %s\n", kept)
		}
		return nil
	}
	return cmd
}

// restore restores a portable backup into a PostgreSQL database.
func (s *session) restore(ctx context.Context, file string) error {
	if err := loadPortable(ctx, s.progress, s.store, file); err != nil {
		return err
	}
	if err := verifyBackup(ctx, s.progress, s.store, s.errs); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.out, "the registry was restored from %s\n", file)
	return err
}

var errUnsound = errors.New("the backup has the problems above: restore another one, which urnd registry verify " +
	"FILE accepts")

// verifyBackup verifies a copy of a backup, and prints its problems.
func verifyBackup(ctx context.Context, p *cli.Progress, s registry.Store, to io.Writer) error {
	problems, err := printProblems(ctx, p, s.Verify, to)
	if err == nil && problems > 0 {
		err = errUnsound
	}
	return err
}

// openPortable opens a backup, decompressed. portable reports whether it is a portable backup, rather than a
// SQLite file.
func openPortable(file string) (plain *bufio.Reader, portable bool, closer func(), err error) {
	f, err := os.Open(file) //nolint:gosec // a path of the command
	if err != nil {
		return nil, false, nil, fmt.Errorf("opening a backup: %w", err)
	}
	from, end, err := bulk.Decompress(f)
	if err != nil {
		return nil, false, nil, errors.Join(fmt.Errorf("opening %s: %w", file, err), f.Close())
	}
	plain = bufio.NewReader(from)
	first, err := plain.Peek(1)                                              // the next read returns the error
	portable = string(first) == "{" || err != nil && !errors.Is(err, io.EOF) // a decompression error
	return plain, portable, func() {
		end()
		_ = f.Close() // only read
	}, nil
}

// isPortable reports whether a backup is a portable one.
func isPortable(file string) (bool, error) {
	_, portable, closer, err := openPortable(file)
	if err == nil {
		closer()
	}
	return portable, err
}

// dumpPortable writes a portable backup.
func (s *session) dumpPortable(ctx context.Context, file string) error {
	return sqlite.WriteBackup(ctx, file, func(f *os.File, _ string) error {
		show := func(done, all registry.Seq) {
			s.progress.Show(cli.Step{
				Activity: "copying the registry", Done: int64(done), Total: int64(all),
				Unit: "versions",
			})
		}
		compressor, err := compressorOf(file, f)
		if err != nil {
			return fmt.Errorf("compressing the backup: %w", err)
		}
		return errors.Join(s.store.Dump(ctx, compressor, s.Now(), show), compressor.Close())
	})
}

// loadPortable loads a portable backup into an empty store, after comparing it with its digest.
func loadPortable(ctx context.Context, p *cli.Progress, s registry.Store, file string) error {
	if err := sqlite.CheckDigest(ctx, file); err != nil {
		return err
	}
	from, _, closer, err := openPortable(file)
	if err != nil {
		return err
	}
	defer closer()
	err = s.Load(ctx, from, func(done, all registry.Seq) {
		p.Show(cli.Step{Activity: "restoring", Done: int64(done), Total: int64(all), Unit: "versions"})
	})
	if err != nil {
		return fmt.Errorf("restoring %s: %w", file, err)
	}
	return nil
}

// loaded returns a temporary store with a portable backup, which is removed when it is closed.
func loaded(ctx context.Context, p *cli.Progress, file string) (registry.Store, error) {
	s, err := newTemporary(ctx)
	if err != nil {
		return nil, err
	}
	if err := loadPortable(ctx, p, s, file); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// temporaryStore is a store whose directory is removed when it is closed.
type temporaryStore struct {
	registry.Store
	directory string
}

// newTemporary returns an empty temporary store.
func newTemporary(ctx context.Context) (*temporaryStore, error) {
	directory, err := os.MkdirTemp("", "urnd-")
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, filepath.Join(directory, "registry.db"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(directory))
	}
	return &temporaryStore{store, directory}, nil
}

// Close implements registry.Store.
func (v *temporaryStore) Close() error {
	return errors.Join(v.Store.Close(), os.RemoveAll(v.directory))
}
