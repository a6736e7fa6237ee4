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

// Import imports names. The lines of one name make one record: their targets, in the order of the
// lines, and all else that they say. A line stands for a version as it was if it has a version or a
// time (an export has them), which needs the role Admin; what it does not say is empty. Other lines change
// only what they say: what they have no column for stays as it is.
//
// A line that would change what is registered says by if_version from which version it was made; where that is
// not the current one, somebody else's change would be lost, and it is rejected. A name that is only reserved may get
// what it did not have without that.
//
// What an entry of a foreign format has beyond what a registry has is reported as lost.
//
// A line that cannot be imported is rejected, and changes nothing. An equal record makes no version.
type Import struct {
	Registry *registry.Registry
	Actor    registry.Actor
	Format   Format
	// Encoding is that of the input, whatever its format; the zero value is found out.
	Encoding charset.Encoding
	// Mapping are columns or members of foreign input, and which of ours they are; "-" leaves one
	// out, and the name "*" stands for all others.
	Mapping map[string]string
	// Base is what comes before the names of a foreign format, where that has only the end of them.
	Base string
	// DryRun is to find out what would be done, and write nothing.
	DryRun bool
	// Overwrite is for lines that change what is registered whatever version they were made from. A name that
	// was withdrawn since stays so.
	Overwrite bool
	// AllowUnresolvable accepts names that the registry is not asked for.
	AllowUnresolvable bool
	Note              string // of versions whose lines have none
	// Source identifies the input: an import that was interrupted is continued by one with the
	// same Source and the same content. "" cannot be continued.
	Source string
	// TempDir is where input is sorted that is larger than some megabytes; "" is the default of the
	// system. It takes about three times as much as the input has without compression.
	TempDir string
	// Transaction is how many names are written in one transaction; 0 is 10,000. They are fewer while others write.
	Transaction int
	// Progress and Rejected are called while Run runs, one at a time; nil is not called.
	Progress func(Progress)
	Rejected func(Rejection)
	// Changed is called in a dry run with each change that would be made, in their order; nil is not called.
	Changed func(registry.Changed)
}

// Run imports what r has. Where it returns an error, what was written before is there, and the
// report says how much that is; that of ctx too.
func (i *Import) Run(ctx context.Context, r io.Reader) (Report, error) {
	run := i.newRun()
	err := run.all(ctx, r)
	return run.report, err
}

// run is a run of an import.
type run struct {
	*Import
	report Report
	sorted *sorter.Sorter
	pace   *pace // of the writing
	input  *counted
	units  int64 // lines that were good
	unread int64 // lines that were not
	lost   unmappedFields
}

func (i *Import) newRun() *run {
	return &run{Import: i, report: Report{Started: i.Registry.Now()}, lost: make(unmappedFields)}
}

// all runs both stages.
func (r *run) all(ctx context.Context, from io.Reader) error {
	if err := r.sort(ctx, from); err != nil {
		return err
	}
	defer r.sorted.Close() //nolint:errcheck // what it has is not needed any more
	r.units = r.report.Lines - r.unread
	r.report.Unmapped = r.lost.sorted()
	return r.write(ctx, r.digest())
}

// digest returns what identifies the input and how it is read.
func (r *run) digest() string {
	settings, _ := json.Marshal([]any{r.Format, r.Encoding.String(), r.Mapping, r.Base, r.Note, r.Actor.Name, r.Overwrite}) // texts can be marshalled
	_, _ = r.input.digest.Write(settings)
	return fmt.Sprintf("%d-%08x", r.input.n.Load(), r.input.digest.Sum32())
}

// reject reports a line that could not be read.
func (r *run) reject(rejection Rejection) {
	switch {
	case rejection.Lost:
		r.report.Lost++
		r.lost.add(rejection.fields)
	case rejection.Doubtful:
		r.report.Doubtful++
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

// counted is the input, as it came.
type counted struct {
	r      io.Reader
	n      atomic.Int64
	digest hash.Hash32
}

// Read implements io.Reader.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	_, _ = c.digest.Write(b[:n]) // it returns no error
	return n, err
}
