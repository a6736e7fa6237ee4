package bulk

import (
	"context"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"sync/atomic"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite/sorter"
)

// Import imports names. The lines of one name are merged into one record: their targets, in the order of the
// lines, and all other fields. A line with a version or a time of change, as an export has them, is a full
// version: a field that it omits is empty. Importing it needs the role Admin. Any other line is a partial
// change: a field without a column keeps its value.
//
// A line that would change a registered name has to give in if_version the version that it was made from. If
// that is not the current version, the line is rejected, because the change of another user would be lost. A
// line without if_version may only add fields to a reserved name.
//
// Fields of a foreign format that a registry cannot store are reported as unmapped fields.
//
// A line that cannot be imported is rejected, and changes nothing. A record equal to the registered one makes
// no version.
type Import struct {
	Registry *registry.Registry
	Actor    registry.Actor
	Format   Format
	// Encoding is the character encoding of the input, in any format; the zero value detects it.
	Encoding charset.Encoding
	// Mapping maps columns or members of foreign input to those of this package. The value "-" ignores a
	// column, and the key "*" stands for every unmapped column.
	Mapping map[string]string
	// Base is prepended to the names of a foreign format that has only their ends.
	Base string
	// DryRun checks and reports everything without writing.
	DryRun bool
	// Overwrite changes registered names whatever version the lines were made from. A name that was withdrawn
	// since stays withdrawn.
	Overwrite bool
	// AllowUnresolvable accepts names outside the owned prefixes (registry.Config.OwnedPrefixes), which no client can
	// resolve here.
	AllowUnresolvable bool
	Note              string // the note of versions whose lines have none
	// Source identifies the input: an interrupted import is continued by one with the same Source and the
	// same content. An import without Source cannot be continued.
	Source string
	// KeepPosition keeps the position of an import that has ended: another Run with the same Source and content
	// writes nothing, and reports the same. The caller removes the document of Source from registry.TableImports.
	KeepPosition bool
	// TempDir is the directory of the temporary files that sort input larger than some megabytes; "" is the
	// default of the system. They take about three times the size of the uncompressed input.
	TempDir string
	// Transaction is the maximum number of names written in one transaction; 0 is 10,000. Transactions are
	// shorter while others write.
	Transaction int
	// Progress and Rejected are called during Run, one call at a time; they may be nil.
	Progress func(Progress)
	Rejected func(Rejection)
	// Changed is called in a dry run with each change that would be made, in order; it may be nil.
	Changed func(registry.Changed)
}

// Run imports the names that r has. If it returns an error, including that of ctx, the transactions committed
// before remain, and the report counts them.
func (i *Import) Run(ctx context.Context, r io.Reader) (Report, error) {
	run := i.newRun()
	err := run.all(ctx, r)
	return run.report, err
}

// run is the state of one call of Run.
type run struct {
	*Import
	report   Report
	sorted   *sorter.Sorter
	pace     *pace // of the writes
	input    *countingReader
	merger   int64 // accepted lines
	unread   int64 // rejected lines of the first stage
	unmapped unmappedFields
}

func (i *Import) newRun() *run {
	return &run{Import: i, report: Report{Started: i.Registry.Now()}, unmapped: make(unmappedFields)}
}

// all runs both stages.
func (r *run) all(ctx context.Context, from io.Reader) error {
	if err := r.sort(ctx, from); err != nil {
		return err
	}
	defer r.sorted.Close() //nolint:errcheck // the temporary data is discarded
	r.merger = r.report.Lines - r.unread
	r.report.Unmapped = r.unmapped.sorted()
	return r.write(ctx, r.digest())
}

// digest returns a digest of the input and of the options that affect its interpretation.
func (r *run) digest() string {
	// These values can always be marshalled.
	settings, _ := json.Marshal([]any{
		r.Format, r.Encoding.String(), r.Mapping, r.Base, r.Note, r.Actor.Name,
		r.Overwrite, r.AllowUnresolvable,
	})
	_, _ = r.input.digest.Write(settings)
	return fmt.Sprintf("%d-%08x", r.input.n.Load(), r.input.digest.Sum32())
}

// reject counts and reports a rejection of the first stage, which may be an unmapped field or a warning of an
// accepted line.
func (r *run) reject(rejection Rejection) {
	switch {
	case rejection.Unmapped:
		r.report.UnmappedCount++
		r.unmapped.add(rejection.fields)
	case rejection.Warning:
		r.report.Warnings++
	default:
		r.unread++
		r.report.Rejected++
	}
	if r.Rejected != nil {
		r.Rejected(rejection)
	}
}

func (r *run) progress(p Progress) {
	if r.Progress == nil {
		return
	}
	p.Bytes, p.Rejected = r.input.n.Load(), r.report.Rejected
	r.Progress(p)
}

// countingReader reads the input before decompression, and counts and digests its bytes.
type countingReader struct {
	r      io.Reader
	n      atomic.Int64
	digest hash.Hash32
}

// Read implements io.Reader.
func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	_, _ = c.digest.Write(b[:n]) // a hash returns no error
	return n, err
}
