package body_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
)

// owner records how a body ended.
type owner struct {
	running              sync.WaitGroup
	complete, incomplete int
	content              body.Blocks
	ended                []error
}

func (o *owner) Spawn(run func()) { o.running.Go(run) }

func (o *owner) End(err error) { o.ended = append(o.ended, err) }

func (o *owner) Complete(_ int64, content body.Blocks, _ bool, _ *body.Spool) {
	o.complete++
	o.content = content
}

func (o *owner) Incomplete() { o.incomplete++ }

// begin returns a body with a declared length, which may differ from that of content, and its owner.
func begin(content string, length, most, budget int64) (*body.Arriving, *owner, *body.Budget) {
	o, memory := new(owner), &body.Budget{MaxBytes: budget}
	b := new(body.Arriving)
	b.Begin(body.Source{
		Reader: io.NopCloser(strings.NewReader(content)), Length: length, MaxStored: most, Budget: memory, Owner: o,
		Finishes: true,
	})
	return b, o, memory
}

// TestArriving: a client receives everything that the origin sends; the store gets the complete body or
// nothing.
func TestArriving(t *testing.T) {
	const large = 200 << 10
	for _, test := range []struct {
		name         string
		size         int
		length       int64 // the declared length
		most, budget int64
		stored       bool
		err          error
	}{
		{"with a length", large, large, 1 << 20, 1 << 20, true, nil},
		{"without a length", large, -1, 1 << 20, 1 << 20, true, nil},
		{"empty", 0, 0, 1 << 20, 1 << 20, true, nil},
		{"shorter than declared", 10, 11, 1 << 20, 1 << 20, false, io.ErrUnexpectedEOF},
		{"larger than what is stored", large, large, 1 << 10, 1 << 20, false, nil},
		{"larger than what is stored, without a length", large, -1, 100 << 10, 1 << 20, false, nil},
		{"no memory is left", large, large, 1 << 20, 1 << 10, false, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			content := strings.Repeat("x", test.size)
			b, o, memory := begin(content, test.length, test.most, test.budget)
			r := b.Join(t.Context(), rules.Span{End: -1})
			var got bytes.Buffer
			if err := r.SendTo(&got, nil); !errors.Is(err, test.err) || got.String() != content {
				t.Errorf("%d bytes of %d, %v", got.Len(), test.size, err)
			}
			r.Close()
			o.running.Wait()
			if stored := o.complete == 1; stored != test.stored || o.complete+o.incomplete != 1 {
				t.Errorf("complete %d times, incomplete %d times", o.complete, o.incomplete)
			}
			if test.stored && o.content.Size() != int64(test.size) {
				t.Errorf("%d bytes are stored", o.content.Size())
			}
			if memory.Used() != 0 {
				t.Errorf("%d bytes are still taken", memory.Used())
			}
		})
	}
}

// TestLeave: when the last client leaves, the exchange ends, unless the rest is small and is read for the
// store.
func TestLeave(t *testing.T) {
	for _, test := range []struct {
		name   string
		size   int
		stored bool
	}{
		{"little is left", 100 << 10, true},
		{"much is left", 1 << 20, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, o, memory := begin(strings.Repeat("x", test.size), int64(test.size), 1<<21, 1<<21)
			one, other := b.Join(t.Context(), rules.Span{End: -1}), b.Join(t.Context(), rules.Span{Start: 1, End: 2})
			if reading, _ := b.Clients(); reading != 2 {
				t.Errorf("%d clients read", reading)
			}
			one.Close()
			if o.complete+o.incomplete != 0 {
				t.Error("it ends although a client reads")
			}
			other.Close()
			o.running.Wait()
			if stored := o.complete == 1; stored != test.stored || o.complete+o.incomplete != 1 {
				t.Errorf("complete %d times, incomplete %d times", o.complete, o.incomplete)
			}
			if last := o.ended[len(o.ended)-1]; errors.Is(last, body.ErrAbandoned) == test.stored {
				t.Errorf("it ends with %v", last)
			}
			if memory.Used() != 0 {
				t.Errorf("%d bytes are still taken", memory.Used())
			}
		})
	}
}
