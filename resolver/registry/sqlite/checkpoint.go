package sqlite

import (
	"time"

	"github.com/ncruces/go-sqlite3"
)

// The write-ahead log. Readers begin with its latest state, so it can only begin anew when none is
// using it: the writer moves its pages into the file whenever there are checkpointPages, and waits
// for readers where it has become restartPages long.
const (
	pageSize        = 4096
	checkpointPages = 1000
	restartPages    = 4000
	restartTimeout  = 100 * time.Millisecond
)

// checkpoint moves what is in the write-ahead log into the file, if that has become long. What
// fails here is tried again after the next transaction: nothing is lost, the log stays long.
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
		c.restartAt = 2 * c.logged // a long transaction reads: not each further write waits for it
		return
	}
	c.restartAt, c.logged = restartPages, 0
}

// empty leaves nothing in the write-ahead log, in which removed octets are until their place is used again. Where
// readers are in the way, it is tried again after each transaction, without waiting for them.
func (c *conn) empty() {
	if c.waitFor(sqlite3.CHECKPOINT_TRUNCATE, c.emptyTimeout) != nil {
		c.emptyTimeout = 0
		return
	}
	c.removed, c.emptyTimeout = false, restartTimeout
	c.restartAt, c.logged = restartPages, 0
}

// waitFor makes a checkpoint that waits for readers, but not long.
func (c *conn) waitFor(mode sqlite3.CheckpointMode, timeout time.Duration) error {
	_ = c.db.BusyTimeout(timeout)
	_, _, err := c.db.WALCheckpoint("main", mode)
	_ = c.db.BusyTimeout(busyTimeout)
	return err
}
