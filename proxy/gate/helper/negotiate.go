package helper

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"github.com/urnd/urnd/internal/quota"
)

// ErrToken is the error of a client token that is not base64, or is too long.
var ErrToken = errors.New("the token of the client is not base64, or too long")

// Negotiate verifies tokens of RFC 4559 by a program, like auth_param negotiate of Squid. It is safe for
// concurrent use.
type Negotiate struct {
	pool   *Pool
	queues quota.Queues[netip.Addr] // see Basic
}

// NewNegotiate returns a Negotiate, whose Close closes the pool. A process has one conversation at a time, so
// the pool must have no concurrency.
func NewNegotiate(pool *Pool) (*Negotiate, error) {
	if pool.config.Concurrency > 0 {
		return nil,
			fmt.Errorf("helper %s: the concurrency is %d, but negotiate requires 0 (one process per conversation)",
				pool.config.Name, pool.config.Concurrency)
	}
	return &Negotiate{pool: pool, queues: clientQueues(pool)}, nil
}

// Close closes the pool.
func (n *Negotiate) Close() { n.pool.Close() }

// Begin starts a conversation with a client, which belongs to its connection. It sends nothing yet.
func (n *Negotiate) Begin(client netip.Addr) *Conversation {
	return &Conversation{negotiate: n, address: client, client: quota.Network(client)}
}

// Conversation is the login of one connection. Between its messages it reserves a process of the program, for
// Config.ReservationTimeout. It must be used by one goroutine at a time, and the caller must close it.
type Conversation struct {
	negotiate   *Negotiate
	address     netip.Addr // of the client, for the log
	client      netip.Addr // its network, by which it has a share of the processes
	reservation *reservation
}

// Step is the result of a message of the client.
type Step struct {
	// Token is to be sent to the client, after "Negotiate" in Proxy-Authenticate or
	// Proxy-Authentication-Info, in base64; "" for none.
	Token string
	// More is whether the client has to send another message, in answer to Token.
	More bool
	// Answer is OK, with the user, or ERR if the login failed; if More is set, it is TT.
	Answer Answer
}

// Next sends a message of the client, in base64, which starts the conversation or answers the last step. If the
// conversation is over (its process has ended, or the client was too slow), the message starts another one. An error
// is ErrToken, wraps ErrUnavailable, or is the cause of the end of ctx; it ends the conversation.
func (c *Conversation) Next(ctx context.Context, token string) (Step, error) {
	if _, err := base64.StdEncoding.DecodeString(token); err != nil || token == "" ||
		len(token)+len("YR \n")+maxChannel+2 > MaxLine {
		c.Close()
		return Step{}, ErrToken
	}
	text, err := c.query(ctx, token)
	if err != nil {
		c.Close()
		return Step{}, err
	}
	a, err := c.negotiate.pool.parse(text)
	if err != nil {
		c.Close()
		return Step{}, c.broken(err)
	}
	step := Step{Token: a.Value("token"), Answer: a, More: a.Result == TT}
	if step.Token == "=" || step.Token == "*" { // placeholders of Samba's programs for no token
		step.Token = ""
	}
	if !step.More {
		c.Close()
	}
	if a.Result == OK && a.User() == "" {
		return Step{},
			c.broken(fmt.Errorf("helper %s: %w: it accepted a client without a user name",
				c.negotiate.pool.config.Name, ErrBroken))
	}
	return step, nil
}

// broken logs the reason for which a login is refused, within the rate limit of the helper: any client can send tokens
// that break the program.
func (c *Conversation) broken(err error) error {
	if log, ok := c.negotiate.pool.lines.allow("client", c.address); ok {
		log.Warn("negotiate login refused", "error", err)
	}
	return err
}

// query asks the process of the conversation, or starts a conversation.
func (c *Conversation) query(ctx context.Context, token string) (text string, err error) {
	if c.reservation != nil {
		text, err = c.reservation.query(ctx, "KK "+token)
		if !errors.Is(err, errReserved) {
			return text, err
		}
		c.Close()
	}
	leave, err := c.negotiate.queues.Acquire(ctx, c.client)
	if err != nil {
		return "", err
	}
	text, c.reservation, err = c.negotiate.pool.reserve(ctx, "YR "+token, sync.OnceFunc(leave))
	return text, err
}

// Close ends the conversation, and releases its process. It may be called several times.
func (c *Conversation) Close() {
	c.reservation.release()
	c.reservation = nil
}
