package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/ncruces/go-sqlite3"

	"github.com/urnd/urnd/resolver/registry"
)

// wrapError converts an error of SQLite to one of the registry; nil for nil.
func (c *conn) wrapError(err error) error {
	if err == nil {
		return nil
	}
	if cause := c.db.GetInterrupt().Err(); cause != nil && errors.Is(err, sqlite3.INTERRUPT) {
		return cause
	}
	return failureOf(c.path, err)
}

// failureOf converts an error to one of the registry, with the path of the file and advice.
func failureOf(path string, err error) error {
	for _, known := range []error{
		registry.ErrSchema, registry.ErrDamaged, registry.ErrUnavailable, registry.ErrInvalid, context.Canceled,
		context.DeadlineExceeded,
	} {
		if errors.Is(err, known) {
			return err
		}
	}
	kind, advice := registry.ErrUnavailable, ""
	told := "" // for clients, which must not see the path
	switch {
	case isAny(err, sqlite3.NOTADB):
		kind = registry.ErrDamaged
		advice = "check the path; if it was the registry, restore a backup (urnd registry restore)"
	case isAny(err, sqlite3.CORRUPT, sqlite3.IOERR_SHORT_READ, sqlite3.IOERR_CORRUPTFS):
		kind, advice = registry.ErrDamaged,
			"pages damaged: check the disk, and restore a backup (urnd registry restore)"
	case isAny(err, sqlite3.FULL, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG),
		isAny(err, sqlite3.IOERR, sqlite3.CANTOPEN) && isFull(path):
		told = " for writing: no space left"
		advice = "no space left on its file system: free some; the failed change is not stored, all earlier ones are"
	case isAny(err, sqlite3.BUSY_SNAPSHOT, sqlite3.BUSY):
		advice = fmt.Sprintf("locked by another writing process for more than %s", busyTimeout)
	case isAny(err, syscall.EROFS):
		told = " for writing: its file system is read-only"
		advice = "its file system is read-only"
	case isAny(err, sqlite3.READONLY_DBMOVED):
		advice = "file moved or replaced while in use: restart the process that uses it"
	case isAny(err, fs.ErrNotExist):
		advice = "create its directory, owned by the user of urnd"
	case isAny(err, sqlite3.READONLY, fs.ErrPermission, sqlite3.PERM, sqlite3.CANTOPEN):
		advice = "allow the user of urnd to write to the file and its directory"
	case isAny(err, sqlite3.IOERR):
		advice = "I/O error of its file system: check its free space and the kernel log; the failed change is not " +
			"stored"
	}
	if advice != "" {
		advice = ": " + advice
	}
	return fmt.Errorf("%w: %w%s", about(path, kind, told), err, advice)
}

// errUnavailable is registry.ErrUnavailable for an error with a path, which only the log shows: see about.
var errUnavailable = fmt.Errorf("%w", registry.ErrUnavailable)

// about returns an error of a kind about a file. Clients see only the text of the inner error, which wraps
// kind; the path is for the log.
func about(path string, kind error, told string) error {
	return fmt.Errorf("%w: %s", fmt.Errorf("%w%s", kind, told), path)
}

func isAny(err error, targets ...error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
