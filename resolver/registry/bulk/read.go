package bulk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/registry"
)

// read reads and checks all lines, and sorts those that are good.
func (r *run) read(ctx context.Context, in *input) error {
	ctx, cancel := context.WithCancel(ctx)
	p := &pipeline{jobs: make(chan job), ordered: make(chan chan parsed, runtime.GOMAXPROCS(0)+1)}
	for range runtime.GOMAXPROCS(0) {
		go p.work(r, in)
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
	if err := r.sorted.add(p.records); err != nil {
		return err
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
	records  []byte // of the sort
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
func (p *pipeline) work(r *run, in *input) {
	for j := range p.jobs {
		j.done <- r.parse(in, j.block)
	}
}

// parse parses and checks the lines of a block.
func (r *run) parse(in *input, b block) parsed {
	if b.fault != nil {
		return parsed{lines: 1, last: b.line, rejected: []Rejection{{b.line, trimLine(b.text), b.fault}}}
	}
	p := parsed{last: b.line, records: make([]byte, 0, len(b.text)+len(b.text)/2)}
	in.lines(b, func(l *line, input string, fault error) {
		p.lines++
		p.last = l.number
		if fault == nil {
			fault = l.check(r.Registry, r.Actor)
		}
		if fault != nil && !utf8.ValidString(input) {
			fault = fmt.Errorf("%w; the line is not UTF-8: save the file as UTF-8", fault)
		}
		if fault != nil {
			p.rejected = append(p.rejected, Rejection{l.number, trimLine(input), fault})
			return
		}
		p.records = appendRecord(p.records, l)
	})
	return p
}

// appendRecord appends a line as a record of the sort.
func appendRecord(b []byte, l *line) []byte {
	begin := len(b)
	b = append(b, make([]byte, recordHead)...)
	b = appendKey(b, l)
	b = binary.BigEndian.AppendUint64(b, uint64(l.number)) //nolint:gosec // it is not negative
	key := len(b) - begin - recordHead
	b = binary.LittleEndian.AppendUint32(b, uint32(l.said))
	b = binary.LittleEndian.AppendUint32(b, uint32(l.ifVersion)) //nolint:gosec // it is not negative
	b = registry.AppendEncoded(b, &l.entry)
	binary.LittleEndian.PutUint32(b[begin:], uint32(key))                           //nolint:gosec // lines are bounded
	binary.LittleEndian.PutUint32(b[begin+4:], uint32(len(b)-begin-recordHead-key)) //nolint:gosec // lines are bounded
	return b
}

// lineOf returns the line of a record.
func lineOf(record []byte) (line, error) {
	key, rest := keyOf(record), restOf(record)
	tail := len(key) - keyTail
	l := line{
		number: int64(binary.BigEndian.Uint64(key[tail:])), //nolint:gosec // it was an int64
		said:   fields(binary.LittleEndian.Uint32(rest)),

		ifVersion: int(binary.LittleEndian.Uint32(rest[4:])),
	}
	l.entry.Kind = registry.Kind(1 - key[0])
	l.entry.Name = string(key[1 : tail-versionSize-1])
	err := registry.Decode(&l.entry, rest[8:])
	if !l.said.has(fieldSince) {
		l.entry.Since = time.Time{} // Decode has taken Changed
	}
	return l, err
}
