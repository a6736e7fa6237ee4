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

// fault converts an error of SQLite to one of the registry; nil for nil.
func (c *conn) fault(err error) error {
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
		registry.ErrSchema, registry.ErrDamaged, registry.ErrNoStore, registry.ErrInvalid, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, known) {
			return err
		}
	}
	kind, advice := registry.ErrNoStore, ""
	told := "" // for clients, which must not see the path
	switch {
	case isAny(err, sqlite3.NOTADB):
		kind = registry.ErrDamaged
		advice = "look whether it is the file that was meant; if it was the registry, restore a backup (urnd registry restore)"
	case isAny(err, sqlite3.CORRUPT, sqlite3.IOERR_SHORT_READ, sqlite3.IOERR_CORRUPTFS):
		kind, advice = registry.ErrDamaged, "its pages are not what was written: check the disk, and restore a backup (urnd registry restore)"
	case isAny(err, sqlite3.FULL, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG), isAny(err, sqlite3.IOERR, sqlite3.CANTOPEN) && isFull(path):
		told = " for changes: there is no more room for them"
		advice = "its file system has no more room; what was being written is not there, all that was written before is: make room"
	case isAny(err, sqlite3.BUSY_SNAPSHOT, sqlite3.BUSY):
		advice = fmt.Sprintf("another process has been writing to it for more than %s", busyTimeout)
	case isAny(err, syscall.EROFS):
		told = " for changes: its file system is read-only"
		advice = "its file system is read-only"
	case isAny(err, sqlite3.READONLY_DBMOVED):
		advice = "the file was moved or replaced while it was in use: start what uses it again"
	case isAny(err, fs.ErrNotExist):
		advice = "make its directory, with the user that urnd runs as for its owner"
	case isAny(err, sqlite3.READONLY, fs.ErrPermission, sqlite3.PERM, sqlite3.CANTOPEN):
		advice = "the user that urnd runs as must be allowed to write to the file and to its directory"
	case isAny(err, sqlite3.IOERR):
		advice = "its file system failed: see whether it has room, and the log of the kernel; what was being written is not there"
	}
	if advice != "" {
		advice = ": " + advice
	}
	return fmt.Errorf("%w: %w%s", about(path, kind, told), err, advice)
}

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
