package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/redact"
	"github.com/urnd/urnd/systemd"
)

// logs are the logs of a generation.
type logs struct {
	log    *slog.Logger
	access *accesslog.Log // nil: off
	file   *os.File       // of access, nil where it is standard error
	state  *writeState    // of access
}

// openLogs opens the logs of a configuration; those without a file are written to w. lost is
// called for lines of the access log that cannot be written.
func openLogs(c config.Log, w *os.File, lost func(), now func() time.Time) (*logs, error) {
	handler, err := logHandler(c, w)
	if err != nil {
		return nil, err
	}
	log := slog.New(handler)
	l := &logs{log: log, state: &writeState{log: log, now: now}}
	if c.Access == "off" {
		return l, nil
	}
	var to io.Writer = w
	if c.AccessFile != "" {
		if l.file, err = openAccessFile(c.AccessFile); err != nil {
			return nil, err
		}
		to = l.file
	}
	l.access = accesslog.New(stateWriter{to, l.state}, c.Access, lost)
	return l, nil
}

func openAccessFile(path string) (*os.File, error) {
	const ownerWritesGroupReads = 0o640
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, ownerWritesGroupReads) //nolint:gosec // it is of the configuration
	if err != nil {
		return nil, fmt.Errorf("log.access_file: %w", err)
	}
	return file, nil
}

// reopen reopens the file of the access log, if it has one: it may have been renamed.
func (l *logs) reopen() error {
	if l.file == nil {
		return nil
	}
	file, err := openAccessFile(l.file.Name())
	if err != nil {
		return err
	}
	l.access.Redirect(stateWriter{file, l.state}) // what was logged before is in the old one
	before := l.file
	l.file = file
	return before.Close()
}

func logHandler(c config.Log, w *os.File) (slog.Handler, error) {
	options := &slog.HandlerOptions{Level: c.Level, ReplaceAttr: logAttr}
	format := c.Format
	if format == "auto" {
		format = formatFor(w)
	}
	switch format {
	case "journald":
		journal, err := systemd.NewJournal(*options)
		if err != nil {
			return nil, fmt.Errorf("log.format: %w", err)
		}
		return journal, nil
	case "json":
		return slog.NewJSONHandler(w, options), nil
	default:
		return slog.NewTextHandler(w, options), nil
	}
}

// logAttr is a ReplaceAttr of slog.HandlerOptions.
func logAttr(groups []string, a slog.Attr) slog.Attr {
	if err, ok := a.Value.Any().(error); ok {
		a.Value = slog.AnyValue(explainOpenFiles(err))
	}
	return redact.Attr(groups, a)
}

// explainOpenFiles adds the limit of open files, and where it is set, to an error of reaching it.
func explainOpenFiles(err error) error {
	var limit syscall.Rlimit
	if !errors.Is(err, syscall.EMFILE) || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return err
	}
	return fmt.Errorf("%w: this process may open %d files and connections: raise LimitNOFILE in the unit of systemd (systemctl edit urnd), or "+
		"ulimit -n, or lower limits.connections and limits.outgoing", err, limit.Cur)
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

// close writes what is left of the access log, and closes its file.
func (l *logs) close() {
	if l.access != nil {
		l.access.Close()
	}
	if l.file != nil {
		_ = l.file.Close() // lines that were lost are counted
	}
}
