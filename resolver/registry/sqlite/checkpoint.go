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
	case c.logged < checkpointPages:
		return
	case c.logged < c.restartAt:
		_, _, _ = c.db.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
		return
	}
	_ = c.db.BusyTimeout(restartTimeout)
	_, _, err := c.db.WALCheckpoint("main", sqlite3.CHECKPOINT_RESTART)
	_ = c.db.BusyTimeout(busyTimeout)
	if err != nil {
		c.restartAt = 2 * c.logged // a long transaction reads: not each further write waits for it
		return
	}
	c.restartAt, c.logged = restartPages, 0
}
