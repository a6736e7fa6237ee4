package valkey

import (
	"context"
	"errors"
	"time"

	client "github.com/valkey-io/valkey-go"
)

// probeEvery is how often a server that has failed is asked whether it answers again.
const probeEvery = 250 * time.Millisecond

// steady is how often the log is read until a server works that has failed: one that has skipped a reply to one of its connections answers some questions.
const steady = 10

// run connects, reads the log, and closes the breaker; it follows the log until something fails, and begins again.
func (l *Level) run(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; failures++ {
		err := l.connect(ctx, failures)
		if err == nil {
			err = l.probe(ctx)
		}
		for followed := 0; err == nil && ctx.Err() == nil; followed++ {
			if err = l.follow(ctx); err == nil && !l.isOpen.Load() {
				break // a load has found that it does not answer
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

// drain forgets that run was roused, by its own failure too.
func (l *Level) drain() {
	select {
	case <-l.wake:
	default:
	}
}

// probe finds whether the server accepts writes, and answers as fast as loads need it, reads what the log has since, and closes
// the breaker.
func (l *Level) probe(ctx context.Context) error {
	if err := l.meet(ctx); err != nil {
		return err
	}
	if err := l.withinTimeout(ctx); err != nil { // the first one may connect, or send the script
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

// follow waits for entries of the log for a while, and applies them.
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

// read applies what the log has behind what was read, and waits for that. A log that is not the one that was read is read from its begin; one that
// was tampered with is replaced.
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

// compare finds whether the log at the server is the one that was read. It is forgotten where it is another one; where it has
// lost entries that were read, as a server that has taken over may have, all begin anew.
func (l *Level) compare(ctx context.Context) error {
	s := l.log.Load()
	if s.epoch == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	sent := l.sent.Load() // before the question: what is published meanwhile may be behind its answer
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

// advance applies the entries behind what was read.
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
		if isGap { // those between were removed, as there are too many
			e.purge = Purge{Kind: Everything}
			s = &logState{mark: s.mark, floor: e.number - 1}
		}
		l.watches.tell(e.purge)
		l.log.Store(s.with(e))
		if isGap {
			l.counts.everything.Add(1)
		}
	}
	return nil
}

// after returns the entries behind an identifier. Without a time to wait it returns what there is.
func (l *Level) after(ctx context.Context, id string, wait time.Duration) ([]client.XRangeEntry, error) {
	const most = 100
	server := l.server.Load()
	ctx, cancel := context.WithTimeout(ctx, wait+backgroundTimeout)
	defer cancel()
	if wait == 0 {
		return server.Do(ctx, server.B().Xrange().Key(l.logKey()).Start("("+id).End("+").Count(retained).Build()).AsXRange()
	}
	command := server.B().Xread().Count(most).Block(wait.Milliseconds()).Streams().Key(l.logKey()).Id(id).Build()
	found, err := server.Do(ctx, command).AsXRead()
	if client.IsValkeyNil(err) {
		return nil, nil
	}
	return found[l.logKey()], err
}
