package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/logs"
)

// openLogs opens the logs of a configuration; those without a file are written to w. The access log is nil where it is
// off. lost is called for lines of it that cannot be written.
func openLogs(c config.Log, w *os.File, lost func(), now func() time.Time) (*slog.Logger, *accesslog.File, error) {
	handler, err := logs.NewHandler(logs.Config{Format: c.Format, Level: c.Level, Explain: explainOpenFiles}, w)
	if err != nil {
		return nil, nil, fmt.Errorf("log.format: %w", err)
	}
	log := slog.New(handler)
	if c.Access == "off" {
		return log, nil, nil
	}
	access, err := accesslog.Open(accesslog.FileConfig{Path: c.AccessFile, To: w, Format: c.Access, Lost: lost, Faults: log, Now: now})
	return log, access, ofAccessFile(err)
}

// ofAccessFile returns the error of the file of the access log with its setting, nil for nil.
func ofAccessFile(err error) error {
	if err != nil {
		err = fmt.Errorf("log.access_file: %w", err)
	}
	return err
}

// explainOpenFiles adds the limit of open files, and where it is set, to an error of reaching it.
func explainOpenFiles(err error) error {
	var limit syscall.Rlimit
	if !errors.Is(err, syscall.EMFILE) || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return err
	}
	return fmt.Errorf("%w: this process may open %d files and connections: "+
		"raise LimitNOFILE in the unit of systemd (systemctl edit urnd), or ulimit -n, "+
		"or lower limits.connections and limits.outgoing", err, limit.Cur)
}
