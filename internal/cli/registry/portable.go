package registry

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// openPortable opens a backup as it was before it was compressed. portable is whether it is a portable one, rather than a file of SQLite.
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
	first, err := plain.Peek(1)                                              // who reads on has the error
	portable = string(first) == "{" || err != nil && !errors.Is(err, io.EOF) // what cannot be decompressed
	return plain, portable, func() {
		end()
		_ = f.Close() // it was read
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
			s.progress.Show(cli.Step{What: "copying the registry", Done: int64(done), Total: int64(all), Unit: "versions"})
		}
		if !strings.HasSuffix(file, ".zst") {
			return s.store.Dump(ctx, f, s.Now(), show)
		}
		z, err := zstd.NewWriter(f)
		if err != nil {
			return fmt.Errorf("compressing the backup: %w", err)
		}
		return errors.Join(s.store.Dump(ctx, z, s.Now(), show), z.Close())
	})
}

// loadPortable fills an empty store with a portable backup, which is compared with its digest before.
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
		p.Show(cli.Step{What: "restoring", Done: int64(done), Total: int64(all), Unit: "versions"})
	})
	if err != nil {
		return fmt.Errorf("restoring %s: %w", file, err)
	}
	return nil
}

// loaded returns a store with what a portable backup has, which is removed when it is closed.
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

// newTemporary returns an empty store.
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
