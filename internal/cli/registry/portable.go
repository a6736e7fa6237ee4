package registry

import (
	"bufio"
	"bytes"
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
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// magicSQLite and magicZstd are what files begin with (https://www.sqlite.org/fileformat.html, RFC 8878 section 3.1.1).
var (
	magicSQLite = []byte("SQLite format 3\x00")
	magicZstd   = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// maxWindow bounds the memory of zstd, as its command does.
const maxWindow = 128 << 20

// isPortable reports whether a backup is a portable one, rather than a file of SQLite.
func isPortable(file string) (bool, error) {
	f, err := os.Open(file) //nolint:gosec // whoever restores a backup says which
	if err != nil {
		return false, fmt.Errorf("opening a backup: %w", err)
	}
	defer f.Close()
	start := make([]byte, len(magicSQLite))
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("reading a backup: %w", err)
	}
	start = start[:n]
	return bytes.HasPrefix(start, magicZstd) || bytes.HasPrefix(start, []byte("{")), nil
}

// dumpPortable writes a portable backup.
func dumpPortable(ctx context.Context, p *cli.Progress, r *registry.Registry, file string) error {
	return sqlite.WriteBackup(ctx, file, func(f *os.File, _ string) error {
		show := func(done, all registry.Seq) {
			p.Show(cli.Step{What: "copying the registry", Done: int64(done), Total: int64(all), Unit: "versions"})
		}
		if !strings.HasSuffix(file, ".zst") {
			return r.Store().Dump(ctx, f, r.Now(), show)
		}
		z, err := zstd.NewWriter(f)
		if err != nil {
			return fmt.Errorf("compressing the backup: %w", err)
		}
		return errors.Join(r.Store().Dump(ctx, z, r.Now(), show), z.Close())
	})
}

// loadPortable fills an empty store with a portable backup, which is compared with its digest before.
func loadPortable(ctx context.Context, p *cli.Progress, s registry.Store, file string) error {
	if err := sqlite.CheckDigest(ctx, file); err != nil {
		return err
	}
	f, err := os.Open(file) //nolint:gosec // whoever restores a backup says which
	if err != nil {
		return fmt.Errorf("opening a backup: %w", err)
	}
	defer f.Close()
	b := bufio.NewReader(f)
	var from io.Reader = b
	if magic, _ := b.Peek(len(magicZstd)); bytes.Equal(magic, magicZstd) {
		z, err := zstd.NewReader(b, zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return fmt.Errorf("decompressing %s: %w", file, err)
		}
		defer z.Close()
		from = z
	}
	err = s.Load(ctx, from, func(done, all registry.Seq) {
		p.Show(cli.Step{What: "restoring", Done: int64(done), Total: int64(all), Unit: "versions"})
	})
	if err != nil {
		return fmt.Errorf("restoring %s: %w", file, err)
	}
	return nil
}

// loaded returns a store with what a portable backup has, which vanishes when it is closed.
func loaded(ctx context.Context, p *cli.Progress, file string) (registry.Store, error) {
	s, err := newVanishing(ctx)
	if err != nil {
		return nil, err
	}
	if err := loadPortable(ctx, p, s, file); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// vanishing is a store whose directory is removed when it is closed.
type vanishing struct {
	registry.Store
	directory string
}

// newVanishing returns an empty store.
func newVanishing(ctx context.Context) (*vanishing, error) {
	directory, err := os.MkdirTemp("", "urnd-")
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, filepath.Join(directory, "registry.db"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(directory))
	}
	return &vanishing{store, directory}, nil
}

// Close implements registry.Store.
func (v *vanishing) Close() error { return errors.Join(v.Store.Close(), os.RemoveAll(v.directory)) }
