package logs

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/plaintext"
)

// The bounds of what Recent keeps: some 50 KiB.
const (
	// MaxRecent bounds the records.
	MaxRecent = 50
	// maxAlike bounds the records of one message: those with other attributes would push all else out.
	maxAlike = 3
	// maxText bounds a message and each value, and maxAttributes all attributes of a record, in octets.
	maxText, maxAttributes = 200, 600
)

// Fault is a record of the log, or several that are the same.
type Fault struct {
	Level       slog.Level
	First, Last time.Time
	Message     string
	Attributes  string // as name=value, as they were logged
	Count       uint64
	// Others are how many with the same message and other attributes came before, and are not listed any more: of all those of the message
	// the last one has them.
	Others uint64
}

// Recent are the last records of the level WARN and above, in memory. It is safe for concurrent use. The zero value has none; a
// nil one keeps none.
type Recent struct {
	mu     sync.Mutex
	faults []Fault // by Last, rising
}

// Faults returns what is kept, the last one first.
func (r *Recent) Faults() []Fault {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.faults)
	slices.Reverse(all)
	return all
}

// add counts a fault where the same is there, and else adds it for the oldest of its message, or the oldest of all, where those are
// too many.
func (r *Recent) add(f Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	same, oldest, alike := -1, -1, 0
	f.Count = 1
	for i := range r.faults {
		if r.faults[i].Message != f.Message || r.faults[i].Level != f.Level {
			continue
		}
		if oldest < 0 {
			oldest = i
		}
		alike++
		f.Others += r.faults[i].Others
		r.faults[i].Others = 0
		if r.faults[i].Attributes == f.Attributes {
			same = i
		}
	}
	switch {
	case same >= 0:
		f.First, f.Count = r.faults[same].First, r.faults[same].Count+1
		r.faults = slices.Delete(r.faults, same, same+1)
	case alike == maxAlike:
		f.Others += r.faults[oldest].Count
		r.faults = slices.Delete(r.faults, oldest, oldest+1)
	case len(r.faults) == MaxRecent:
		r.faults = slices.Delete(r.faults, 0, 1)
	}
	r.faults = append(r.faults, f)
}

// recorder is a handler that gives all to another one, and keeps a copy of what is at least a warning.
type recorder struct {
	slog.Handler
	recent  *Recent
	replace func(groups []string, a slog.Attr) slog.Attr
	groups  []string
	fixed   []string // the attributes of WithAttrs
}

// Enabled implements slog.Handler. Warnings are kept also where the log has errors alone.
func (k recorder) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || k.Handler.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (k recorder) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		attributes := slices.Clone(k.fixed)
		r.Attrs(func(a slog.Attr) bool {
			attributes = k.texts(attributes, k.groups, a)
			return true
		})
		message := k.replace(nil, slog.String(slog.MessageKey, r.Message)).Value.String()
		k.recent.add(Fault{
			Level: r.Level, First: r.Time, Last: r.Time, Message: cut(message, maxText), Attributes: cut(strings.Join(attributes, " "), maxAttributes),
		})
	}
	if !k.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return k.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (k recorder) WithAttrs(attributes []slog.Attr) slog.Handler {
	k.Handler, k.fixed = k.Handler.WithAttrs(attributes), slices.Clone(k.fixed)
	for _, a := range attributes {
		k.fixed = k.texts(k.fixed, k.groups, a)
	}
	return k
}

// WithGroup implements slog.Handler.
func (k recorder) WithGroup(name string) slog.Handler {
	k.Handler, k.groups = k.Handler.WithGroup(name), append(slices.Clone(k.groups), name)
	return k
}

// texts appends an attribute as the log has it, and one text for each of a group.
func (k recorder) texts(to, groups []string, a slog.Attr) []string {
	a.Value = a.Value.Resolve()
	if a.Value.Kind() == slog.KindGroup {
		if a.Key != "" {
			groups = append(slices.Clone(groups), a.Key)
		}
		for _, inner := range a.Value.Group() {
			to = k.texts(to, groups, inner)
		}
		return to
	}
	a = k.replace(groups, a)
	if a.Key == "" {
		return to
	}
	return append(to, strings.Join(append(slices.Clone(groups), a.Key), ".")+"="+cut(a.Value.Resolve().String(), maxText))
}

// cut returns a text of valid UTF-8 on one line, shortened to a number of bytes.
func cut(text string, most int) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(strings.Clone(plaintext.Shorten(text, most)), "\ufffd"))
}
