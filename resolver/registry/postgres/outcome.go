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

// errRestarted means that the server has restarted since, and that nothing but its id tells a transaction.
var errRestarted = errors.New("the server has restarted")

// outcome asks whether a transaction was committed, for a while.
func (s *Store) outcome(ctx context.Context, id identity) (committed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, outcomeTimeout)
	defer cancel()
	for {
		status, err := s.status(ctx, id)
		switch {
		case errors.Is(err, errTimeline) || errors.Is(err, errRestarted):
			return false, err
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

// status returns the status of a transaction. A server that crashed before it wrote anything of a transaction to
// its log gives the id to another one after the restart, which may commit: so what it made is compared, too.
func (s *Store) status(ctx context.Context, id identity) (string, error) {
	var status, timeline, started string
	var isThere bool
	err := s.primary.QueryRow(ctx, "SELECT coalesce(pg_xact_status($1::text::xid8), ''), "+timelineOf+", "+startOf+
		", EXISTS (SELECT FROM commits WHERE last = $2 AND digest = $3)", id.transaction, int64(id.head), id.digest).Scan(&status, &timeline, &started, &isThere)
	switch {
	case err != nil:
		return "", err
	case timeline != id.timeline:
		return "", errTimeline
	case status != "committed":
		return status, nil
	case id.digest != nil && !isThere:
		return "aborted", nil
	case id.digest == nil && started != id.started:
		return "", errRestarted
	default:
		return status, nil
	}
}
