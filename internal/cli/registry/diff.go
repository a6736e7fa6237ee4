package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/diff"
)

func newDiff(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "diff A B",
		SuggestFor: []string{"compare", "cmp"},
		Short:      "Print the differences between two registries",
		Long: `Print the differences between two registries, name by name: prefixes first, then names, each in
their order. A and B are stores (sqlite:FILE, the path of such a file, or postgres://...), or files
that urnd registry export has written: CSV, TSV or NDJSON, also compressed by gzip or zstd. In a
file with several versions of a name the last one counts. Fields without a column in a file are not
compared.

Current entries are compared, not their histories. Memory usage does not depend on the number of
names: files are sorted in temporary files.

The exit status is 0 if there is no difference, 1 if there is one or a line of a file is invalid,
and 2 after a usage error.`,
		Example: `  urnd registry diff sqlite:registry.db names.csv
  urnd registry diff old.ndjson.zst new.ndjson.zst --output csv --diff-limit 0
  urnd registry diff sqlite:registry.db postgres://urnd@db.example.org/names`,
		Args: cobra.ExactArgs(2),
	}
	settings := cli.AddFile(cmd)
	d := addDifferenceForms(cmd, "one object for each name that differs, and their counts last")
	d.dry = true // nothing is changed
	encoding := addEncoding(cmd)
	temp := addTempDir(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		shown := cli.StartProgress(cmd, "comparing")
		defer shown.End()
		c, err := settings.Load(nil)
		if err != nil {
			return err
		}
		names, err := w.Names(c)
		if err != nil {
			return err
		}
		rejected, err := newRejections("", cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		s := &session{
			cmd: cmd, progress: shown, out: shown.Writer(cmd.OutOrStdout()),
			errs: shown.Writer(cmd.ErrOrStderr()),
		}
		p := d.printer(s)
		p.Comparing = true
		sides := comparison{w, c, names, *temp, *encoding, rejected}
		err = sides.with(cmd.Context(), args[0], func(a diff.Iterator) error {
			return sides.with(cmd.Context(), args[1], func(b diff.Iterator) error {
				return diff.Compare(counting(shown, a), b,
					func(c registry.Changed) error { p.Changed(c); return p.Err() })
			})
		})
		err = shown.InterruptedRestart(err, "not all differences were printed, and nothing was changed")
		if err == nil {
			err = d.end(s, p)
		}
		if err == nil && (p.Counts.Names > 0 || rejected.n > 0) {
			err = cli.ErrReported
		}
		return err
	}
	return cmd
}

// counting returns a side that shows the number of read entries as progress.
func counting(p *cli.Progress, side diff.Iterator) diff.Iterator {
	n := int64(0)
	return func() (diff.Entry, error) {
		n++
		p.Show(cli.Step{Activity: "comparing", Done: n, Unit: "names and prefixes"})
		return side()
	}
}

// comparison opens the two sides of a comparison.
type comparison struct {
	wiring   Wiring
	config   config.Config
	names    resolver.Names
	temp     string
	encoding charset.Encoding // of files
	rejected *rejections
}

// with calls f with the entries of a store or of a file.
func (c *comparison) with(ctx context.Context, of string, f func(diff.Iterator) error) error {
	store, is, err := storeOf(of)
	switch {
	case err != nil:
		return err
	case is:
		return c.withStore(ctx, store, f)
	default:
		return c.withFile(ctx, of, f)
	}
}

// storeOf returns the store that an argument names; the result is false for any other file.
func storeOf(text string) (store string, is bool, err error) {
	if strings.HasPrefix(text, "sqlite:") || strings.Contains(text, "://") {
		return text, true, nil
	}
	f, err := os.Open(text) //nolint:gosec // the user names it
	if err != nil {
		return "", false, cli.Usage(err)
	}
	defer f.Close()
	const magic = "SQLite format 3\x00"
	start := make([]byte, len(magic))
	if _, err := io.ReadFull(f, start); err == nil && bytes.Equal(start, []byte(magic)) {
		return "sqlite:" + text, true, nil
	}
	return "", false, nil
}

func (c *comparison) withStore(ctx context.Context, text string, f func(diff.Iterator) error) error {
	if err := mustExist(text); err != nil {
		return err
	}
	settings := c.config.Registry
	if settings.Store != text {
		settings.Replica = ""
	}
	settings.Store = text
	store, err := c.wiring.Open(ctx, settings)
	if err != nil {
		return err
	}
	err = store.Read(ctx, func(tx registry.Tx) error { return f(diff.NewIterator(tx)) })
	return errors.Join(err, store.Close())
}

func (c *comparison) withFile(ctx context.Context, path string, f func(diff.Iterator) error) error {
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return cli.Usage(err)
	}
	defer file.Close()
	i := bulk.Import{
		Registry: c.wiring.New(nil, c.names, nil), Actor: actor(), Format: bulk.FormatOf(path), Encoding: c.encoding,
		TempDir:  c.temp,
		Rejected: func(r bulk.Rejection) { c.rejected.add(path, r) },
	}
	sorted, err := i.Sort(ctx, file)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	err = f(func() (diff.Entry, error) {
		e, over, err := sorted.Next()
		return diff.Entry{Entry: e, Override: over}, err
	})
	return errors.Join(err, sorted.Close())
}
