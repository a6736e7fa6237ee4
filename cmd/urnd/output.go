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

// openOutput opens what the configuration says, w for what has no file.
func openOutput(c config.Log, w *os.File) (*output, error) {
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
		const ownerWritesGroupReads = 0o640
		if o.file, err = os.OpenFile(c.AccessFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, ownerWritesGroupReads); err != nil {
			return nil, fmt.Errorf("log.access_file: %w", err)
		}
		to = o.file
	}
	o.access = accesslog.New(to, c.Access)
	return o, nil
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
		_ = o.file.Close() // each line was written whole
	}
}
