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

// errTimeline means that the current primary is not the server that received the commit.
var errTimeline = errors.New("failover to another primary")

// errRestarted means that the server has restarted, and that the transaction can be identified only by its ID,
// which may have been reused.
var errRestarted = errors.New("server restarted")

// outcome queries whether a transaction was committed, with retries until outcomeTimeout.
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
			err = fmt.Errorf("transaction status %q", status)
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

// status returns the status of a transaction. A server that crashes before it writes any log record of a
// transaction reuses the ID after its restart, for another transaction that may commit. Therefore the written
// commit is compared, too.
func (s *Store) status(ctx context.Context, id identity) (string, error) {
	var status, timeline, started string
	var there bool
	err := s.primary.QueryRow(ctx, "SELECT coalesce(pg_xact_status($1::text::xid8), ''), "+timelineOf+", "+startOf+
		", EXISTS (SELECT FROM commits WHERE last = $2 AND digest = $3)", id.transaction, int64(id.head),
		id.digest).Scan(&status, &timeline, &started, &there)
	switch {
	case err != nil:
		return "", err
	case timeline != id.timeline:
		return "", errTimeline
	case status != "committed":
		return status, nil
	case id.digest != nil && !there:
		return "aborted", nil
	case id.digest == nil && started != id.started:
		return "", errRestarted
	default:
		return status, nil
	}
}
