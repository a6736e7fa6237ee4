// Package logs has the handler of the log of the program, by its format.
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
	// Format is "journald", "json", "text" or "auto": what fits where it is written to.
	Format string
	Level  slog.Leveler
	// Explain returns an error that is logged with what helps.
	Explain func(err error) error
	// Recent keeps a copy of warnings and errors; nil keeps none.
	Recent *Recent
}

// NewHandler returns the handler of a log that is written to w, or to the journal of systemd. It shows no password.
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

// formatFor returns the log format for a destination.
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

// ExplainOpenFiles returns what adds the limit of open files, where it is set, and the settings that stay below it, to an error of
// reaching it. It is for Config.Explain.
func ExplainOpenFiles(settings string) func(err error) error {
	return func(err error) error {
		var limit syscall.Rlimit
		if !errors.Is(err, syscall.EMFILE) || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
			return err
		}
		return fmt.Errorf("%w: this process may open %d files and connections: "+
			"raise LimitNOFILE in the unit of systemd (systemctl edit urnd), or ulimit -n, "+
			"or lower %s", err, limit.Cur, settings)
	}
}
