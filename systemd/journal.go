package systemd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/coreos/go-systemd/v22/journal"
)

// JournalListens reports whether standard error is connected to the journal.
func JournalListens() bool {
	listens, err := journal.StderrIsJournalStream()
	return err == nil && listens
}

// Journal is a slog.Handler that writes native fields to the journal (systemd.journal-fields(7)): MESSAGE,
// PRIORITY, and one for each attribute. The message repeats the attributes for human readers.
type Journal struct {
	options slog.HandlerOptions
	attrs   []slog.Attr // with the names of their groups
	group   string
	send    func(message string, priority journal.Priority, fields map[string]string) error
}

// NewJournal returns a Journal with the Level and ReplaceAttr of options; AddSource is ignored. It fails if
// the journal is not available.
func NewJournal(options slog.HandlerOptions) (*Journal, error) {
	if !journal.Enabled() {
		return nil, errors.New("the journal is not available on this machine")
	}
	return &Journal{options: options, send: journal.Send}, nil
}

// Enabled implements slog.Handler.
func (j *Journal) Enabled(_ context.Context, level slog.Level) bool {
	return j.options.Level == nil || level >= j.options.Level.Level()
}

// Handle implements slog.Handler.
func (j *Journal) Handle(_ context.Context, r slog.Record) error {
	message := j.replace(slog.String(slog.MessageKey, r.Message)).Value.String()
	fields := make(map[string]string)
	add := func(a slog.Attr) bool {
		j.each(j.group, a, func(name, value string) {
			fields[fieldName(name)] = value
			message += " " + name + "=" + quoted(value)
		})
		return true
	}
	for _, a := range j.attrs {
		j.each("", a, func(name, value string) {
			fields[fieldName(name)] = value
			message += " " + name + "=" + quoted(value)
		})
	}
	r.Attrs(add)
	if err := j.send(message, priority(r.Level), fields); err != nil {
		return fmt.Errorf("writing to the journal: %w", err)
	}
	return nil
}

// each calls f for an attribute, or for the attributes of a group.
func (j *Journal) each(prefix string, a slog.Attr, f func(name, value string)) {
	a.Value = a.Value.Resolve()
	if a.Value.Kind() == slog.KindGroup {
		for _, inner := range a.Value.Group() {
			j.each(prefix+a.Key+".", inner, f)
		}
		return
	}
	if a = j.replace(a); a.Key != "" {
		f(prefix+a.Key, a.Value.String())
	}
}

func (j *Journal) replace(a slog.Attr) slog.Attr {
	if j.options.ReplaceAttr == nil {
		return a
	}
	return j.options.ReplaceAttr(nil, a)
}

// WithAttrs implements slog.Handler.
func (j *Journal) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *j
	next.attrs = append([]slog.Attr(nil), j.attrs...)
	for _, a := range attrs {
		a.Key = j.group + a.Key
		next.attrs = append(next.attrs, a)
	}
	return &next
}

// WithGroup implements slog.Handler.
func (j *Journal) WithGroup(name string) slog.Handler {
	next := *j
	next.group += name + "."
	return &next
}

func priority(level slog.Level) journal.Priority {
	switch {
	case level >= slog.LevelError:
		return journal.PriErr
	case level >= slog.LevelWarn:
		return journal.PriWarning
	case level >= slog.LevelInfo:
		return journal.PriInfo
	default:
		return journal.PriDebug
	}
}

// fieldName converts a name to that of a journal field: upper-case letters, digits and underscores, beginning
// with a letter.
func fieldName(name string) string {
	field := strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(name))
	field = strings.TrimLeft(field, "_0123456789")
	if field == "" || field == "MESSAGE" || field == "PRIORITY" {
		return "URND_" + field
	}
	return field
}

func quoted(value string) string {
	if value == "" || strings.ContainsAny(value, " \t\r\n\"=") {
		return fmt.Sprintf("%q", value)
	}
	return value
}
