package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

var errNotAFile = errors.New("the store is a PostgreSQL database: use pg_dump and pg_restore, or backup --portable")

func newBackup(w Wiring) *cobra.Command {
	var force, portable bool
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the registry to a file, while it is used",
		Long: `Copy the registry, as it is at this moment, to a single file. urnd may be running, and names may
be changed meanwhile. FILE appears when it is complete, with mode 0600, and is read by verify and
restore. Its digest is written to FILE.sha256 then, as sha256sum -c reads it: take both away. Of a
PostgreSQL database pg_dump makes backups.

With --portable it is lines of JSON, which do not depend on the database: with the history, tokens,
counters and all else, to move the registry to another database. It is compressed if FILE ends in
.zst.`,
		Example: `  urnd registry backup /var/backups/registry.db
  urnd registry backup --force registry.db && urnd registry verify registry.db
  urnd registry backup --portable registry.ndjson.zst`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	cmd.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	cmd.Flags().BoolVar(&portable, "portable", false, "write lines of JSON that any database can be restored from")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p := cli.StartProgress(cmd, "copying the registry")
		defer p.End()
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
		if err := f.backUp(cmd, p, args[0], portable); err != nil {
			return notBackedUp(p, err, args[0])
		}
		p.End()
		info, err := os.Stat(args[0])
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: a backup of %d octets\n", args[0], info.Size())
		return err
	}
	return cmd
}

// backUp writes a backup to a file.
func (f *storeFlags) backUp(cmd *cobra.Command, p *cli.Progress, to string, portable bool) error {
	s, err := f.open(cmd.Context())
	if err != nil {
		return err
	}
	defer s.close()
	file, ok := s.store.(*sqlite.Store)
	if portable || !ok {
		err = dumpPortable(cmd.Context(), p, s, to)
	} else {
		err = file.Backup(cmd.Context(), to, func(done, all int) {
			p.Show(cli.Step{What: "copying the registry", Done: int64(done), Total: int64(all), Unit: "pages"})
		})
	}
	if err != nil || !ok { // metrics tell of backups of files alone
		return err
	}
	if err := s.Mark(cmd.Context(), registry.MarkBackup); err != nil { // metrics miss it
		fmt.Fprintf(cmd.ErrOrStderr(), "urnd: %v\n", err)
	}
	return nil
}

// notBackedUp returns the error of a backup.
func notBackedUp(p *cli.Progress, err error, file string) error {
	return p.Interrupted(err, "no backup was made, and a %s from before is as it was; the same command begins anew", file)
}

// checkBackupFile returns an error if a backup of a store must not be made in a file.
func checkBackupFile(store, file string, force bool) error {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	used, err := os.Stat(store) // "" is no file
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
