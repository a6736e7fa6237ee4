package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// importFlags are the flags of urnd registry import.
type importFlags struct {
	bulk.Import // without the fields that depend on the file
	rejected    string
	columns     []string
	differences *differenceFlags
}

func newImport(w Wiring) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		SuggestFor: []string{"load", "bulk", "upload", "convert"},
		Use:        "import FILE...",
		Short:      "Import many names from CSV, TSV or NDJSON, or from another resolver",
		Long: `Import many names from CSV, TSV or NDJSON, also compressed by gzip or zstd; - is standard input.
The first line of CSV and TSV names the columns; the simplest is "name,target". Several targets of
a name are several lines with the same name. Fields without a column stay as they are, and an equal
name is not changed, so that a file can be imported again.

A line that differs from the entry changes it only if its column if_version, which exports have, is
the current version: otherwise it is rejected as a conflict, with both. --overwrite changes the
entry anyway, and may undo changes of others. Only a line with the status active, exported from the
withdrawn version, makes a withdrawn name active again.

Files are UTF-8, or UTF-16 with a byte order mark, or in the encoding of --encoding. A line with
bytes that are invalid in the encoding is rejected, not repaired.

An invalid line is reported with its number and the reason, and the valid ones are imported; the
exit status is 1 then. Fields of another program's format that have no equivalent are reported in
the same way, although their names are imported. The same command continues an interrupted import,
unless it came from standard input.`,
		Example: `  urnd registry import names.csv
  urnd registry import --dry-run names.csv
  urnd registry import --encoding windows-1252 from-excel.csv
  urnd registry import --map name=URN --map target=Link --map -=* --rejected bad.csv catalogue.csv
  zcat names.ndjson.gz | urnd registry import --note "from the old resolver" -
  urnd registry import --format bioregistry --base urn:example: registry.json
  urnd registry import --format purl --base https://purl.example.org --rejected listed.csv purls.xml`,
		Args: cobra.MinimumNArgs(1),
	}
	open := addStore(cmd, w)
	f.differences = addDifferences(cmd)
	flags := cmd.Flags()
	cli.AddParsed(cmd, &f.Format, "format",
		"the `format`: "+cli.JoinOr(bulk.ImportFormats()...)+". Empty: detected from the file name or content",
		bulk.ParseFormat)
	cli.Complete(cmd, "format", bulk.ImportFormats()...)
	encoding := addEncoding(cmd)
	flags.StringArrayVar(&f.columns, "map", nil,
		"`OURS=THEIRS`: import the column THEIRS as OURS; -=THEIRS ignores it, and -=* all "+
			"others. Repeatable")
	flags.StringVar(&f.Base, "base", "",
		"prefix of the names from another program: a `text` such as https://purl.example.org/ or "+
			"urn:example:")
	flags.BoolVar(&f.Overwrite, "overwrite", false, "change names also if that overwrites changes of others")
	flags.BoolVar(&f.AllowUnresolvable, "allow-unresolvable", false, unresolvableHelp)
	flags.StringVar(&f.Note, "note", "", "the `note` of versions from lines without one")
	flags.StringVar(&f.rejected, "rejected", "", "write the rejected lines into this `file`, as CSV")
	temp := addTempDir(cmd)
	cli.AddCheck(cmd, func([]string) (err error) {
		f.Encoding, f.TempDir, f.DryRun = *encoding, *temp, f.differences.dry
		if f.differences.output.Format == cli.CSV && !f.DryRun {
			return errors.New("--output csv is for --dry-run: it has a row for each difference")
		}
		if f.Mapping, err = f.mapping(); err == nil {
			err = f.CheckOptions()
		}
		return err
	})
	return open.run(madeUnlessDry(&f.differences.dry), "opening the registry", "nothing was imported", f.run)
}

// mapping parses the flags --map.
func (f *importFlags) mapping() (map[string]string, error) {
	mapping := make(map[string]string)
	for _, text := range f.columns {
		ours, theirs, ok := strings.Cut(text, "=")
		if !ok || theirs == "" {
			return nil, fmt.Errorf("--map %s is not OURS=THEIRS, such as name=URN", text)
		}
		mapping[theirs] = ours
	}
	return mapping, nil
}

// run imports the files one by one.
func (f *importFlags) run(_ context.Context, s *session, files []string) error {
	rejected, err := newRejections(f.rejected, s.errs)
	if err != nil {
		return err
	}
	bad := false
	for _, file := range files {
		started := time.Now()
		i := f.Import
		p := f.differences.printer(s)
		if i.DryRun {
			i.Changed = p.Changed
		}
		report, err := importFile(s, i, file, rejected) //nolint:contextcheck // the command has the context
		if err = errors.Join(err, p.Err()); err == nil {
			err = f.differences.end(s, p)
		}
		if err == nil || report.Names > 0 {
			err = errors.Join(f.print(s, file, report, time.Since(started)), err)
		}
		if err != nil {
			return errors.Join(interrupted(s.progress, err, file, i.DryRun, report), rejected.close())
		}
		bad = bad || report.Rejected > 0
	}
	if err := rejected.close(); err != nil {
		return err
	}
	if bad {
		return cli.ErrReported
	}
	return nil
}

// interrupted describes the state after an error, and how to continue.
func interrupted(p *cli.Progress, err error, file string, dry bool, r bulk.Report) error {
	written := amountOf(r.New+r.Changed, "name")
	stands, of := "%s were written; the same command continues", written
	switch {
	case dry:
		stands, of = "nothing of %s was imported, because of --dry-run; the same command starts over", file
	case file == "-":
		stands = "%s from standard input were written; import the same input again, equal entries do not change"
	case errors.Is(err, registry.ErrUnavailable):
		err = fmt.Errorf("%w; %s were written, and the same command continues", err, written)
	}
	return fmt.Errorf("importing %s: %w", file, p.Interrupted(err, stands, of))
}

// importFile imports a file, or standard input.
func importFile(s *session, i bulk.Import, file string, rejected *rejections) (bulk.Report, error) {
	in, err := cli.Open(s.cmd, file)
	if err != nil {
		return bulk.Report{}, err
	}
	defer in.Close()
	size := in.Size()
	if size >= 0 {
		if i.Source, err = filepath.Abs(file); err != nil {
			return bulk.Report{}, fmt.Errorf("naming %s: %w", file, err)
		}
	}
	if i.Format == bulk.Detect && file != cli.Stdin {
		i.Format = bulk.FormatOf(file)
	}
	i.Progress = func(now bulk.Progress) { s.progress.Show(importStep(now, file, size)) }
	i.Rejected = func(rejection bulk.Rejection) { rejected.add(file, rejection) }
	return s.Import(s.cmd.Context(), s.actor, i, in)
}

// importStep returns the progress of the import of a file. size is not positive if it is unknown.
func importStep(now bulk.Progress, file string, size int64) cli.Step {
	more := amountOf(now.Rejected, "line") + " rejected"
	if now.Stage == bulk.Writing {
		return cli.Step{Activity: "writing " + file, Done: now.Done, Total: now.Total, Unit: "names", More: more}
	}
	return cli.Step{
		Activity: "reading " + file, Done: now.Bytes, Total: max(size, 0), Unit: cli.Bytes,
		More: amountOf(now.Lines, "line") + ", " + more,
	}
}

// print prints the summary of a file. For CSV output it goes to standard error.
func (f *importFlags) print(s *session, file string, r bulk.Report, took time.Duration) error {
	w := s.out
	if f.differences.output.Format == cli.CSV {
		w = s.errs
	}
	return f.differences.output.Document(w, struct {
		File    string  `json:"file"`
		Seconds float64 `json:"seconds"`
		DryRun  bool    `json:"dry_run,omitempty"`
		bulk.Report
	}{file, took.Seconds(), f.DryRun, r}, func(w io.Writer) error { return f.printText(w, file, r, took) })
}

func (f *importFlags) printText(w io.Writer, file string, r bulk.Report, took time.Duration) error {
	would, continued := "", ""
	if f.DryRun {
		would = "would be "
	}
	if r.Continued {
		continued = "; continued from " + r.Started.Format(time.RFC3339)
	}
	fmt.Fprintf(w, "%s: %s: %s%s new, %s changed, %s unchanged; %s rejected; in %.1f seconds%s\n", file,
		amountOf(r.Names, "name"), would, humanize.Comma(r.New), humanize.Comma(r.Changed), humanize.Comma(r.Unchanged),
		amountOf(r.Rejected, "line"), took.Seconds(), continued)
	if r.UnmappedCount > 0 {
		fmt.Fprintf(w, "%s: %s not imported, of names that were imported\n", file, amountOf(r.UnmappedCount, "detail"))
	}
	if len(r.Unmapped) > 0 {
		fmt.Fprintf(w, "%s: unmapped fields: %s\n", file, fieldCounts(r.Unmapped))
	}
	if r.Warnings > 0 {
		fmt.Fprintf(w, "%s: %s with warnings about the name, imported: see urnd registry check\n", file,
			amountOf(r.Warnings, "line"))
	}
	if len(r.Ignored) > 0 {
		fmt.Fprintf(w, "%s: ignored columns: %s\n", file, strings.Join(r.Ignored, ", "))
	}
	return nil
}

// fieldCounts formats the names of fields with their counts.
func fieldCounts(fields []bulk.UnmappedField) string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = fmt.Sprintf("%s (%s)", plaintext.OneLine(f.Field), humanize.Comma(f.Count))
	}
	return strings.Join(texts, ", ")
}

// amountOf formats a number with a noun, in the plural unless the number is 1.
func amountOf(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return humanize.Comma(n) + " " + what
}

// rejections writes rejected lines to a file, or shows the first ones to the user.
type rejections struct {
	errs  io.Writer
	file  *os.File
	table *tabular.Writer
	n     int
}

// shownRejections bounds the rejections that are shown without a file.
const shownRejections = 20

func newRejections(path string, errs io.Writer) (*rejections, error) {
	r := &rejections{errs: errs}
	if path == "" {
		return r, nil
	}
	f, err := os.Create(path) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	r.file, r.table = f, tabular.NewWriter(f, ',')
	return r, r.table.Write("file", "line", "reason", "input")
}

func (r *rejections) add(file string, rejection bulk.Rejection) {
	r.n++
	switch {
	case r.table != nil:
		// The method close returns the error.
		_ = r.table.Write(file, strconv.FormatInt(rejection.Line, 10), rejection.Reason.Error(), rejection.Input)
	case r.n <= shownRejections:
		fmt.Fprintf(r.errs, "urnd: %s:%d: %s\n", file, rejection.Line, plaintext.OneLine(rejection.Reason.Error()))
	case r.n == shownRejections+1:
		fmt.Fprintln(r.errs, "urnd: further rejected lines are not shown: use --rejected FILE")
	}
}

func (r *rejections) close() error {
	if r.file == nil {
		return nil
	}
	if err := errors.Join(r.table.Flush(), r.file.Close()); err != nil {
		return fmt.Errorf("writing the rejected lines: %w", err)
	}
	return nil
}
