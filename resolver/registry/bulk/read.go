package bulk

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"strings"

	"github.com/urnd/urnd/resolver/registry/sqlite/sorter"
)

// parsed is the result of parsing a block.
type parsed struct {
	records  []byte // sort records, concatenated
	ends     []int  // the end offset of each record
	lines    int64  // with a name, accepted or not
	last     int64  // the number of the last line
	rejected []Rejection
}

// sort reads, checks and sorts all lines, without the rejected ones. The caller closes r.sorted, unless sort
// returns an error.
func (r *run) sort(ctx context.Context, from io.Reader) error {
	r.input = &countingReader{r: from, digest: crc32.New(crc32.MakeTable(crc32.Castagnoli))}
	in, err := r.openInput(r.input)
	if err != nil {
		return err
	}
	defer in.close()
	r.report.Ignored = in.ignored
	if r.sorted, err = sorter.New(ctx, r.TempDir); err != nil {
		return err
	}
	if err := r.read(ctx, in); err != nil {
		return errors.Join(err, r.sorted.Close())
	}
	return nil
}

// read parses blocks in parallel, and takes their lines in order.
func (r *run) read(ctx context.Context, in *input) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ordered := make(chan chan parsed, runtime.GOMAXPROCS(0)) // bounds the blocks in memory
	var failed error                                         // by next; read after ordered is closed
	go func() {
		defer close(ordered)
		for {
			b, err := in.next()
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				failed = err
				return
			}
			done := make(chan parsed, 1)
			ordered <- done
			go func() { done <- r.parse(b) }()
		}
	}()
	var err error
	for done := range ordered { // after an error, drain it until all goroutines have ended
		if p := <-done; err == nil {
			if err = r.addBlock(p); err != nil {
				cancel()
			}
		}
	}
	if err == nil && !errors.Is(failed, io.EOF) {
		err = failed
	}
	return err
}

// addBlock adds the lines of the next block to the sort, and reports its rejections.
func (r *run) addBlock(p parsed) error {
	for _, rejection := range p.rejected {
		r.reject(rejection)
	}
	r.report.Lines += p.lines
	begin := 0
	for _, end := range p.ends {
		if err := r.sorted.Add(p.records[begin:end]); err != nil {
			return err
		}
		begin = end
	}
	r.progress(Progress{Stage: Reading, Lines: p.last})
	return nil
}

// parse parses and checks the lines of a block.
func (r *run) parse(b block) (p parsed) {
	b(func(l *line, input string, err error) {
		p.lines++
		p.last = l.number
		about := Rejection{Line: l.number, Input: strings.TrimRight(input, "\r\n")}
		report := func(reason error) {
			about.Reason = reason
			p.rejected = append(p.rejected, about)
		}
		if err == nil {
			err = l.check(r.Registry, r.Actor)
		}
		if err != nil {
			report(err)
			return
		}
		if warning := r.Registry.Warning(l.entry.Key); warning != nil {
			about.Warning = true
			report(fmt.Errorf("%w: %w", ErrWarning, warning))
			about.Warning = false
		}
		for _, lost := range l.unmapped {
			about.Unmapped, about.fields = true, lost.Fields
			report(fmt.Errorf("%w: %s", ErrUnmapped, lost))
		}
		p.records = appendRecord(p.records, l)
		p.ends = append(p.ends, len(p.records))
	})
	return p
}
