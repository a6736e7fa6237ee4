package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	outcomeTimeout = 5 * time.Second
	outcomePause   = 100 * time.Millisecond
)

// errTimeline means that another server answers than the one that was asked to commit.
var errTimeline = errors.New("another server has become the primary")

// outcome asks whether a transaction was committed, for a while.
func (s *Store) outcome(ctx context.Context, id identity) (committed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, outcomeTimeout)
	defer cancel()
	for {
		var status, timeline string
		err = s.primary.QueryRow(ctx, "SELECT coalesce(pg_xact_status($1::text::xid8), ''), "+timelineOf, id.transaction).Scan(&status, &timeline)
		switch {
		case err == nil && timeline != id.timeline:
			return false, errTimeline
		case err == nil && status == "committed":
			return true, nil
		case err == nil && status == "aborted":
			return false, nil
		case err == nil:
			err = fmt.Errorf("the transaction is %q", status)
		}
		timer := time.NewTimer(outcomePause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false, err
		}
	}
}
