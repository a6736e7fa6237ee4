package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/redact"
	"github.com/urnd/urnd/systemd"
)

// output is where a generation says what happens.
type output struct {
	log    *slog.Logger
	access *accesslog.Log // nil: off
	file   *os.File       // of access, nil where it is w
}

// openOutput opens what the configuration says, w for what has no file. lost hears of
// lines of the access log that cannot be written.
func openOutput(c config.Log, w *os.File, lost func()) (*output, error) {
	handler, err := logHandler(c, w)
	if err != nil {
		return nil, err
	}
	o := &output{log: slog.New(handler)}
	if c.Access == "off" {
		return o, nil
	}
	var to io.Writer = w
	if c.AccessFile != "" {
		if o.file, err = openAccessFile(c.AccessFile); err != nil {
			return nil, err
		}
		to = o.file
	}
	o.access = accesslog.New(to, c.Access, lost)
	return o, nil
}

func openAccessFile(path string) (*os.File, error) {
	const ownerWritesGroupReads = 0o640
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, ownerWritesGroupReads) //nolint:gosec // it is of the configuration
	if err != nil {
		return nil, fmt.Errorf("log.access_file: %w", err)
	}
	return file, nil
}

// reopen opens the file of the access log anew, if it has one: it may have been renamed.
func (o *output) reopen() error {
	if o.file == nil {
		return nil
	}
	file, err := openAccessFile(o.file.Name())
	if err != nil {
		return err
	}
	o.access.Redirect(file)
	before := o.file
	o.file = file
	return before.Close()
}

func logHandler(c config.Log, w *os.File) (slog.Handler, error) {
	options := &slog.HandlerOptions{Level: c.Level, ReplaceAttr: redact.Attr}
	format := c.Format
	if format == "auto" {
		format = formatFor(w)
	}
	switch format {
	case "journald":
		return systemd.NewJournal(*options)
	case "json":
		return slog.NewJSONHandler(w, options), nil
	default:
		return slog.NewTextHandler(w, options), nil
	}
}

// formatFor returns the format that suits who reads.
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

func (o *output) close() {
	if o.file != nil {
		_ = o.file.Close() // what it could not take is counted
	}
}
