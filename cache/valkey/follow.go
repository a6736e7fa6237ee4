package valkey

import (
	"context"
	"errors"
	"time"

	client "github.com/valkey-io/valkey-go"
)

// probeEvery is the interval at which a failed server is probed.
const probeEvery = 250 * time.Millisecond

// steady is how often the log must be read until a failed server counts as recovered: a server that has skipped
// a reply on one of its connections answers some queries.
const steady = 10

// run connects, reads the log, and closes the circuit breaker. It follows the log until a failure, and then
// starts over.
func (l *Level) run(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; failures++ {
		err := l.connect(ctx, failures)
		if err == nil {
			err = l.probe(ctx)
		}
		for followed := 0; err == nil && ctx.Err() == nil; followed++ {
			if err = l.follow(ctx); err == nil && !l.open.Load() {
				break // a load has found that the server does not respond
			}
			if followed == steady {
				failures = 0
			}
		}
		if err != nil {
			l.failed(err)
		}
		l.drain()
		l.pause(ctx, probeEvery)
	}
}

// drain discards pending calls of rouse, including those by failures of run itself.
func (l *Level) drain() {
	select {
	case <-l.wake:
	default:
	}
}

// probe checks that the server accepts writes and responds as fast as loads need, reads the new entries of the
// log, and closes the circuit breaker.
func (l *Level) probe(ctx context.Context) error {
	if err := l.meet(ctx); err != nil {
		return err
	}
	if err := l.withinTimeout(ctx); err != nil { // the first query may connect, or send the script
		if err = l.withinTimeout(ctx); err != nil {
			return err
		}
	}
	if err := l.read(ctx, 0); err != nil {
		return err
	}
	flushing, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	if err := l.flush(flushing); err != nil {
		return err
	}
	l.works()
	return nil
}

func (l *Level) withinTimeout(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, mostTimeouts*l.config.Timeout)
	defer cancel()
	_, err := l.head(ctx)
	return err
}

// follow waits a limited time for log entries, and applies them.
func (l *Level) follow(ctx context.Context) error {
	if err := l.read(ctx, pollEvery); err != nil {
		return err
	}
	if l.members.isDue(l.config.Now()) {
		if err := l.meet(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	return l.flush(ctx)
}

// read applies the log entries behind the last one read, and waits for new ones. A different log is read from
// its beginning; a log that was tampered with is replaced.
func (l *Level) read(ctx context.Context, wait time.Duration) error {
	err := l.compare(ctx)
	if err == nil && l.log.Load().epoch != "" {
		err = l.advance(ctx, wait)
	}
	if err == nil && l.log.Load().epoch == "" {
		err = l.begin(ctx)
	}
	if errors.Is(err, errForged) || errors.Is(err, errLost) || errors.Is(err, errLarge) {
		if err = l.forget(ctx, err); err == nil {
			err = l.begin(ctx)
		}
	}
	return err
}

// compare checks whether the log at the server is the one that was read. A different log resets the state. If
// the log has lost entries that were read, as after a failover, it returns errLost, so that all instances start
// over.
func (l *Level) compare(ctx context.Context) error {
	s := l.log.Load()
	if s.epoch == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	sent := l.sent.Load() // before the query: purges published later may be behind its reply
	at, err := l.head(ctx)
	switch {
	case err != nil:
		return err
	case at.epoch != s.epoch:
		l.log.Store(new(logState))
	case at.number < s.number || at.number == s.number && at.tag != s.tag,
		sent != nil && at.epoch == sent.epoch && at.number < sent.number:
		return errLost
	case at.number > s.number:
		return l.advance(ctx, 0)
	}
	return nil
}

// advance applies the log entries behind the last one read.
func (l *Level) advance(ctx context.Context, wait time.Duration) error {
	entries, err := l.after(ctx, identifier(l.log.Load().number), wait)
	if err != nil {
		return err
	}
	for _, from := range entries {
		s := l.log.Load()
		e, err := l.next(s, from)
		if err != nil {
			return err
		}
		isGap := e.number > s.number+1
		if isGap { // the entries in between were trimmed
			e.purge = Purge{Kind: PurgeEverything}
			s = &logState{mark: s.mark, floor: e.number - 1}
		}
		l.watches.notify(e.purge)
		l.log.Store(s.with(e))
		if isGap {
			l.counts.fullPurges.Add(1)
		}
	}
	return nil
}

// after returns the log entries behind an identifier. If wait is 0, it returns the existing ones.
func (l *Level) after(ctx context.Context, id string, wait time.Duration) ([]client.XRangeEntry, error) {
	const most = 100
	server := l.server.Load()
	ctx, cancel := context.WithTimeout(ctx, wait+backgroundTimeout)
	defer cancel()
	if wait == 0 {
		return server.Do(ctx,
			server.B().Xrange().Key(l.logKey()).Start("("+id).End("+").Count(retained).Build()).AsXRange()
	}
	command := server.B().Xread().Count(most).Block(wait.Milliseconds()).Streams().Key(l.logKey()).Id(id).Build()
	found, err := server.Do(ctx, command).AsXRead()
	if client.IsValkeyNil(err) {
		return nil, nil
	}
	return found[l.logKey()], err
}
