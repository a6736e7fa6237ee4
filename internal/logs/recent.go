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

// Limits of Recent, which amount to about 50 KiB.
const (
	// MaxRecent limits the number of records.
	MaxRecent = 50
	// maxAlike limits the records with the same message, so that different attributes do not displace all other
	// records.
	maxAlike = 3
	// maxText limits a message and each value, and maxAttributes all attributes of a record, in bytes.
	maxText, maxAttributes = 200, 600
)

// Record is a warning or error in the log, or several identical ones.
type Record struct {
	Level       slog.Level
	First, Last time.Time
	Message     string
	Attributes  string // as name=value, in the form in which they are logged
	Count       uint64
	// Others is the number of earlier records with the same message but other attributes that are no longer
	// listed. It is only set in the last record of a message.
	Others uint64
}

// Recent keeps the last records of level WARN and above in memory. It is safe for concurrent use. The zero
// value is empty; a nil *Recent keeps nothing.
type Recent struct {
	mu       sync.Mutex
	failures []Record // in ascending order of Last
}

// Records returns the records, most recent first.
func (r *Recent) Records() []Record {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.failures)
	slices.Reverse(all)
	return all
}

// add counts f if an identical record exists. Otherwise it adds f; if a limit is reached, f replaces the oldest
// record with the same message, or the oldest of all.
func (r *Recent) add(f Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	same, oldest, alike := -1, -1, 0
	f.Count = 1
	for i := range r.failures {
		if r.failures[i].Message != f.Message || r.failures[i].Level != f.Level {
			continue
		}
		if oldest < 0 {
			oldest = i
		}
		alike++
		f.Others += r.failures[i].Others
		r.failures[i].Others = 0
		if r.failures[i].Attributes == f.Attributes {
			same = i
		}
	}
	switch {
	case same >= 0:
		f.First, f.Count = r.failures[same].First, r.failures[same].Count+1
		r.failures = slices.Delete(r.failures, same, same+1)
	case alike == maxAlike:
		f.Others += r.failures[oldest].Count
		r.failures = slices.Delete(r.failures, oldest, oldest+1)
	case len(r.failures) == MaxRecent:
		r.failures = slices.Delete(r.failures, 0, 1)
	}
	r.failures = append(r.failures, f)
}

// recorder is a handler that forwards all records to another handler, and copies warnings and errors to Recent.
type recorder struct {
	slog.Handler
	recent  *Recent
	replace func(groups []string, a slog.Attr) slog.Attr
	groups  []string
	fixed   []string // texts of the attributes from WithAttrs
}

// Enabled implements slog.Handler. Warnings are recorded even if only errors are logged.
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
		k.recent.add(Record{
			Level: r.Level, First: r.Time, Last: r.Time, Message: cut(message, maxText),
			Attributes: cut(strings.Join(attributes, " "), maxAttributes),
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

// texts appends the text of an attribute as it is logged, or one text for each attribute of a group.
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
	return append(to, strings.Join(append(slices.Clone(groups), a.Key), ".")+"="+
		cut(a.Value.Resolve().String(), maxText))
}

// cut returns text as valid UTF-8 on one line, shortened to at most most bytes.
func cut(text string, most int) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(strings.Clone(plaintext.Shorten(text, most)), "\ufffd"))
}
