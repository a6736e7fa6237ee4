package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// listener waits for notifications of changes, on a connection of its own.
type listener struct {
	config   *pgx.ConnConfig
	password func() (string, error)
	hints    chan struct{}

	ctx    context.Context //nolint:containedctx // it ends with close
	cancel context.CancelFunc
	done   chan struct{} // closed when run has returned; nil before start
}

const (
	leastBackoff = 100 * time.Millisecond
	mostBackoff  = 5 * time.Second
	// quiet is the time without a notification after which the connection is checked.
	quiet = 30 * time.Second
)

func newListener(ctx context.Context, config *pgx.ConnConfig, password func() (string, error)) *listener {
	l := &listener{config: config.Copy(), password: password, hints: make(chan struct{}, 1)}
	l.config.OnNotification = nil // WaitForNotification receives them
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return l
}

func (l *listener) start() {
	l.done = make(chan struct{})
	go l.run()
}

// close ends the listener, and waits for run to return.
func (l *listener) close() {
	l.cancel()
	if l.done != nil {
		<-l.done
	}
}

// run listens, and reconnects after each failure. It returns if the server does not support notifications.
func (l *listener) run() {
	defer close(l.done)
	backoff := leastBackoff
	for {
		listened, err := l.listen()
		if l.ctx.Err() != nil || isUnsupported(err) {
			return
		}
		if listened {
			backoff = leastBackoff
		}
		timer := time.NewTimer(backoff)
		select {
		case <-timer.C:
		case <-l.ctx.Done():
			timer.Stop()
			return
		}
		backoff = min(2*backoff, mostBackoff)
	}
}

// isUnsupported reports whether the server has rejected LISTEN.
func isUnsupported(err error) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && !isLost(err) && !isOf(failed.Code, codeAuthorization, codeCatalog, codeResources)
}

// listen connects, and forwards notifications until the connection fails. It reports whether LISTEN succeeded.
func (l *listener) listen() (listened bool, err error) {
	config := l.config.Copy()
	if err := setPassword(config, l.password); err != nil {
		return false, err
	}
	conn, err := pgx.ConnectConfig(l.ctx, config)
	if err != nil {
		return false, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), connectTimeout)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if err := l.bounded(func(ctx context.Context) error {
		_, err := conn.Exec(ctx, "LISTEN "+channel)
		return err
	}); err != nil {
		return false, err
	}
	l.hint() // for changes before LISTEN
	for {
		if err := l.wait(conn); err != nil {
			return true, err
		}
	}
}

// wait waits for one notification, or checks the connection.
func (l *listener) wait(conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(l.ctx, quiet)
	defer cancel()
	_, err := conn.WaitForNotification(ctx)
	switch {
	case err == nil:
		l.hint()
		return nil
	case l.ctx.Err() == nil && pgconn.Timeout(err):
		return l.bounded(conn.Ping)
	default:
		return err
	}
}

func (l *listener) bounded(f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(l.ctx, queryTimeout)
	defer cancel()
	return f(ctx)
}

func (l *listener) hint() {
	select {
	case l.hints <- struct{}{}:
	default: // one is pending already
	}
}
