package sqlite

import (
	"time"

	"github.com/ncruces/go-sqlite3"
)

// Limits of the write-ahead log, in pages. Readers start at its end, so it can be reset only when no reader
// uses it. The writer checkpoints it without waiting from checkpointPages on, and waits for readers from
// restartPages on.
const (
	pageSize        = 4096
	checkpointPages = 1000
	restartPages    = 4000
	restartTimeout  = 100 * time.Millisecond
)

// checkpoint copies the write-ahead log into the database file if the log is long. An error is ignored: no data
// is lost, the log stays long, and the next transaction tries again.
func (c *conn) checkpoint() {
	switch {
	case c.removed:
		c.empty()
		return
	case c.logged < checkpointPages:
		return
	case c.logged < c.restartAt:
		_, _, _ = c.db.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
		return
	}
	if c.waitFor(sqlite3.CHECKPOINT_RESTART, restartTimeout) != nil {
		// A long transaction is reading: wait again only after the log has doubled, not at each write.
		c.restartAt = 2 * c.logged
		return
	}
	c.restartAt, c.logged = restartPages, 0
}

// empty truncates the write-ahead log, which contains removed data until its pages are overwritten. If readers
// prevent that, each transaction tries again, without waiting for them.
func (c *conn) empty() {
	if c.waitFor(sqlite3.CHECKPOINT_TRUNCATE, c.emptyTimeout) != nil {
		c.emptyTimeout = 0
		return
	}
	c.removed, c.emptyTimeout = false, restartTimeout
	c.restartAt, c.logged = restartPages, 0
}

// waitFor runs a checkpoint that waits for readers for at most timeout.
func (c *conn) waitFor(mode sqlite3.CheckpointMode, timeout time.Duration) error {
	_ = c.db.BusyTimeout(timeout)
	_, _, err := c.db.WALCheckpoint("main", mode)
	_ = c.db.BusyTimeout(busyTimeout)
	return err
}
