package postgres

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Timeouts. They are short, so that an outage, and its end, are detected soon.
const (
	connectTimeout = 2 * time.Second // for a connection; connect_timeout in the URL takes precedence
	lookupTimeout  = 3 * time.Second // for a lookup, including its connection
	queryTimeout   = 5 * time.Second // for a statement of Read
	writeTimeout   = time.Minute     // for a statement of Write
	commitTimeout  = 30 * time.Second
	writerTimeout  = time.Minute // for a writer that waits for others in this instance
)

// errURL does not contain the URL, which may have a password.
var errURL = errors.New("invalid database URL (not shown: it may contain a password)")

// errPassword is the error for a URL with a password.
var errPassword = errors.New("database URL with a password, which is readable by others")

// parse returns the configuration of the connections to a database.
func parse(text string, o Options) (*pgxpool.Config, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errURL
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		return nil, errPassword
	}
	c, err := pgxpool.ParseConfig(text)
	if err != nil {
		return nil, errURL
	}
	if !u.Query().Has("connect_timeout") {
		c.ConnConfig.ConnectTimeout = connectTimeout
	}
	c.PingTimeout = connectTimeout
	c.MaxConns = max(c.MaxConns, 2) // migrate needs two at the same time
	c.ConnConfig.DialFunc = o.Dial
	// Dial resolves host names.
	c.ConnConfig.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	// With the transaction pooling of PgBouncer, notifications for other clients may arrive here: they would
	// accumulate.
	c.ConnConfig.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) {}
	c.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error { return setPassword(c, o.Password) }
	c.AfterConnect = setPlanner
	return c, nil
}

// writable restricts connections of the primary to servers that accept writes, if there are several servers and
// the URL has no target_session_attrs. A standby would accept the connection, but reject each change, even
// after the primary is back.
func writable(text string, c *pgxpool.Config) {
	first := c.ConnConfig
	for _, other := range first.Fallbacks { // includes the same server without TLS
		if other.Host == first.Host && other.Port == first.Port {
			continue
		}
		if u, err := url.Parse(text); err == nil && !u.Query().Has("target_session_attrs") {
			first.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
		}
		return
	}
}

// setPassword sets the password of a new connection.
func setPassword(c *pgx.ConnConfig, password func() (string, error)) error {
	if password == nil {
		return nil
	}
	text, err := password()
	if err != nil {
		return err
	}
	if text != "" {
		c.Password = text
	}
	return nil
}

// setPlanner makes plans independent of statistics, which are wrong during an import. Each query has an index,
// and must use it in its order; a bitmap scan would need a sort.
func setPlanner(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx,
		"SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = "+
			"off; SET jit = off")
	return err
}
