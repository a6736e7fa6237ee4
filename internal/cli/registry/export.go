package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

func newExport(w Wiring) *cobra.Command {
	var o bulk.ExportOptions
	var force bool
	cmd := &cobra.Command{
		SuggestFor: []string{"dump", "list", "save"},
		Use:        "export [FILE]",
		Short:      "Export the names as CSV, TSV or NDJSON, or for nginx or the DNS",
		Long: `Export the names as CSV, TSV or NDJSON, from which urnd registry import makes an equal registry;
withdrawn names are included. With --history all versions are exported, with their times and
authors. Cells of CSV and TSV that a spreadsheet would execute as formulas begin with an
apostrophe, which the import removes. A file whose name ends with .gz or .zst is compressed;
without FILE the output is standard output.

nginx-map is a map for nginx, naptr-zone are NAPTR records for the DNS, for a site that stops using
urnd. What they cannot express is reported, and the exit status is 1.`,
		Example: `  urnd registry export names.csv
  urnd registry export --history names.ndjson.zst
  urnd registry export --at 2031-05-01 names-of-may.csv
  urnd registry export --format nginx-map names.map
  urnd registry export --format naptr-zone --prefix urn:nbn:fi: --zone fi.nbn.example.org names.zone`,
		Args: cobra.MaximumNArgs(1),
	}
	open := addStore(cmd, w)
	flags := cmd.Flags()
	cli.AddParsed(cmd, &o.Format, "format",
		"the `format`: "+cli.JoinOr(bulk.ExportFormats()...)+". Empty: by the name of the file, or ndjson",
		bulk.ParseFormat)
	cli.Complete(cmd, "format", bulk.ExportFormats()...)
	flags.BoolVar(&o.History, "history", false, "all versions, not only the current ones")
	addTime(cmd, &o.At, "at", "the names as they were at a `time`: of RFC 3339, or the end of a day (UTC)",
		plaintext.ParseTimeEnd)
	flags.StringVar(&o.Prefix, "prefix", "", "only what begins with this `text`")
	flags.BoolVar(&force, "force", false, "replace FILE if it exists")
	flags.StringVar(&o.Zone, "zone", "", "the name of the zone of naptr-zone")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		file, stands := "", "the output is incomplete"
		if len(args) > 0 && args[0] != cli.Stdin {
			file = args[0]
			stands = "no export was made, and an existing " + file + " is unchanged"
		}
		if err := checkExportFile(file, o.Format, force); err != nil {
			return cli.Usage(err)
		}
		if o.Format == bulk.Detect {
			o.Format = bulk.FormatOf(file)
		}
		return open.with(existing, "exporting names", stands, func(ctx context.Context, s *session) error {
			return s.export(ctx, o, file)
		})
	}
	return cmd
}

// export exports to a file, "" for standard output, and reports skipped names.
func (s *session) export(ctx context.Context, o bulk.ExportOptions, file string) error {
	total, err := s.size(ctx, o.Prefix)
	if err != nil {
		return err
	}
	o.Progress = func(entries int64) {
		s.progress.Show(cli.Step{Activity: "exporting names", Done: entries, Total: total})
	}
	skipped := 0
	o.Skipped = func(name string, reason error) {
		if skipped++; skipped <= shownRejections {
			s.say("%s: %v", name, reason)
		}
	}
	if err := exportTo(ctx, s, o, file, s.out); err != nil {
		return err
	}
	if skipped > 0 {
		s.say("%s names or prefixes were not exported", humanize.Comma(int64(skipped)))
		return cli.Hint(cli.ErrReported, "csv, tsv and ndjson have all of them: --format")
	}
	return nil
}

// checkExportFile returns an error if the format does not match the file name, or a file would be
// overwritten.
func checkExportFile(file string, format bulk.Format, force bool) error {
	if file == "" {
		return nil
	}
	kind := bulk.Extension(file)
	switch {
	case slices.Contains([]string{".xlsx", ".xlsm", ".xls", ".ods", ".numbers"}, kind):
		return fmt.Errorf("%s: spreadsheets are not supported: they open .csv", file)
	case format == bulk.Detect && kind != "" && bulk.FormatOf(file) == bulk.Detect:
		return fmt.Errorf("%s: %q is not a format: use .csv, .tsv or .ndjson, or set --format", file, kind)
	}
	info, err := os.Stat(file)
	if err == nil && info.Mode().IsRegular() && !force {
		return fmt.Errorf("%s exists: use --force to replace it", file)
	}
	return nil
}

// exportTo exports to a file atomically; "" is w.
func exportTo(ctx context.Context, s *session, o bulk.ExportOptions, file string, w io.Writer) (err error) {
	if file == "" {
		return s.ExportAll(ctx, s.actor, w, o)
	}
	part := file + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(part))
		}
	}()
	compressor, err := compressorOf(file, f)
	if err != nil {
		return err
	}
	if err := s.ExportAll(ctx, s.actor, compressor, o); err != nil {
		return err
	}
	if err := compressor.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return os.Rename(part, file)
}

// plainWriter does not compress.
type plainWriter struct{ io.Writer }

// Close implements io.Closer.
func (plainWriter) Close() error { return nil }

// compressorOf returns the compressor for the extension of a file name.
func compressorOf(file string, w io.Writer) (io.WriteCloser, error) {
	switch {
	case strings.HasSuffix(file, ".gz"):
		return gzip.NewWriter(w), nil
	case strings.HasSuffix(file, ".zst"), strings.HasSuffix(file, ".zstd"):
		return zstd.NewWriter(w)
	default:
		return plainWriter{w}, nil
	}
}
