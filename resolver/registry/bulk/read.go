package bulk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
)

// read reads and checks all lines, and sorts those that are good.
func (r *run) read(ctx context.Context, in *input) error {
	ctx, cancel := context.WithCancel(ctx)
	p := &pipeline{jobs: make(chan job), ordered: make(chan chan parsed, runtime.GOMAXPROCS(0)+1)}
	for range runtime.GOMAXPROCS(0) {
		go p.work(r)
	}
	go p.divide(ctx, in)
	var err error
	for next := range p.ordered {
		done := <-next
		if err != nil {
			continue // until all have ended
		}
		if err = r.take(done); err != nil {
			cancel()
		}
	}
	cancel()
	if err == nil {
		err = p.err
	}
	return err
}

// take takes the lines of the next block.
func (r *run) take(p parsed) error {
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

// pipeline parses blocks in parallel, and keeps their order.
type pipeline struct {
	jobs    chan job
	ordered chan chan parsed
	err     error // of reading, once ordered is closed
}

type job struct {
	block block
	done  chan parsed
}

// parsed is what a block has.
type parsed struct {
	records  []byte // of the sort, one after another
	ends     []int  // where each of them ends
	lines    int64  // with a name
	last     int64  // the number of the last line
	rejected []Rejection
}

// divide reads the blocks.
func (p *pipeline) divide(ctx context.Context, in *input) {
	defer close(p.ordered)
	defer close(p.jobs)
	for {
		b, err := in.next()
		if err == nil {
			err = ctx.Err()
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			p.err = err
			return
		}
		done := make(chan parsed, 1)
		p.ordered <- done
		p.jobs <- job{b, done}
	}
}

// work parses blocks.
func (p *pipeline) work(r *run) {
	for j := range p.jobs {
		j.done <- r.parse(j.block)
	}
}

// parse parses and checks the lines of a block.
func (r *run) parse(b block) parsed {
	var p parsed
	b(func(l *line, input string, err error) {
		p.lines++
		p.last = l.number
		if err == nil {
			err = l.check(r.Registry, r.Actor)
		}
		if err != nil {
			p.rejected = append(p.rejected, Rejection{Line: l.number, Input: trimLine(input), Reason: err})
			return
		}
		if doubt := r.Registry.Doubt(l.entry.Key); doubt != nil {
			p.rejected = append(p.rejected, Rejection{Line: l.number, Input: trimLine(input), Reason: fmt.Errorf("%w: %w", ErrDoubtful, doubt), Doubtful: true})
		}
		for _, lost := range l.unmapped {
			p.rejected = append(p.rejected, Rejection{
				Line: l.number, Input: trimLine(input), Reason: fmt.Errorf("%w: %s", ErrLost, lost), Lost: true, fields: lost.Fields,
			})
		}
		p.records = appendRecord(p.records, l)
		p.ends = append(p.ends, len(p.records))
	})
	return p
}
