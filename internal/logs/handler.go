// Package logs creates the slog.Handler of the daemon's log. A configuration enters; a handler leaves that
// writes records as text, as JSON or to the journal of systemd (its native protocol), redacts passwords, and
// adds advice to errors. Recent keeps the last warnings and errors in memory for the administrator, and Current
// lets loggers outlive a reload.
package logs

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"

	"github.com/urnd/urnd/internal/redact"
	"github.com/urnd/urnd/systemd"
)

// Config configures a handler.
type Config struct {
	// Format is "journald", "json", "text" or "auto", which depends on the destination.
	Format string
	Level  slog.Leveler
	// Explain adds advice to an error before it is logged.
	Explain func(err error) error
	// Recent receives a copy of warnings and errors; it may be nil.
	Recent *Recent
}

// NewHandler returns a handler that writes to w or to the systemd journal. It redacts passwords.
func NewHandler(c Config, w *os.File) (slog.Handler, error) {
	options := &slog.HandlerOptions{Level: c.Level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if err, ok := a.Value.Any().(error); ok {
			a.Value = slog.AnyValue(c.Explain(err))
		}
		return redact.Attr(groups, a)
	}}
	format := c.Format
	if format == "auto" {
		format = formatFor(w)
	}
	var handler slog.Handler
	switch format {
	case "journald":
		journal, err := systemd.NewJournal(*options)
		if err != nil {
			return nil, err
		}
		handler = journal
	case "json":
		handler = slog.NewJSONHandler(w, options)
	default:
		handler = slog.NewTextHandler(w, options)
	}
	if c.Recent == nil {
		return handler, nil
	}
	return recorder{Handler: handler, recent: c.Recent, replace: options.ReplaceAttr}, nil
}

// formatFor returns the format for "auto".
func formatFor(w *os.File) string {
	info, err := w.Stat()
	switch {
	case w == os.Stderr && systemd.JournalListens():
		return "journald"
	case err == nil && info.Mode()&os.ModeCharDevice != 0:
		return "text"
	default:
		return "json"
	}
}

// ExplainOpenFiles returns a function for Config.Explain. To an error caused by the limit of open files it adds
// the limit, how to raise it, and the settings that keep usage below it.
func ExplainOpenFiles(settings string) func(err error) error {
	return func(err error) error {
		var limit syscall.Rlimit
		if !errors.Is(err, syscall.EMFILE) || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
			return err
		}
		return fmt.Errorf("%w: the limit of open files and connections is %d: raise LimitNOFILE in the systemd unit "+
			"(systemctl edit "+
			"urnd), or ulimit -n, or lower %s", err, limit.Cur, settings)
	}
}
