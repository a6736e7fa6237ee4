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

// ErrToken is the error of a client whose token is no base64, or is too long.
var ErrToken = errors.New("the token of the client is no base64, or too long")

// Negotiate asks a program about the tokens of RFC 4559, as auth_param negotiate does. It is safe for concurrent use.
type Negotiate struct {
	pool   *Pool
	queues quota.Queues[netip.Addr] // as in Basic
}

// NewNegotiate returns a Negotiate, which closes the pool. A process is in one conversation at a time, so the pool has no concurrency.
func NewNegotiate(pool *Pool) (*Negotiate, error) {
	if pool.config.Concurrency > 0 {
		return nil, fmt.Errorf("the helper %s has a concurrency of %d, but a conversation needs a process of its own: write 0 for negotiate",
			pool.config.Name, pool.config.Concurrency)
	}
	return &Negotiate{pool: pool, queues: clientQueues(pool)}, nil
}

// Close closes the pool.
func (n *Negotiate) Close() { n.pool.Close() }

// Begin begins a conversation with a client, which belongs to its connection, and asks nothing yet.
func (n *Negotiate) Begin(client netip.Addr) *Conversation {
	return &Conversation{negotiate: n, client: quota.Network(client)}
}

// Conversation is the login of one connection. A process of the program is reserved for it between its messages, for Config.Reservation. One
// goroutine at a time may use it, and the caller must close it.
type Conversation struct {
	negotiate *Negotiate
	client    netip.Addr
	seat      *seat
}

// Step is what becomes of a message of the client.
type Step struct {
	// Token is for the client, behind "Negotiate" in Proxy-Authenticate or Proxy-Authentication-Info, in base64; "" is none.
	Token string
	// More is whether the client is to send another message, in answer to Token.
	More bool
	// Answer is OK, with the user, or ERR where the client is not let in; where More is set, it is TT.
	Answer Answer
}

// Next passes a message of the client on, in base64, which begins the conversation or answers the last step. Where that is over (its
// process has ended, or the client has taken too long), the message begins another one. An error is ErrToken, wraps ErrUnavailable, or is the
// cause for which ctx has ended; it ends the conversation.
func (c *Conversation) Next(ctx context.Context, token string) (Step, error) {
	if _, err := base64.StdEncoding.DecodeString(token); err != nil || token == "" || len(token)+len("YR \n")+maxChannel+2 > MaxLine {
		c.Close()
		return Step{}, ErrToken
	}
	text, err := c.ask(ctx, token)
	if err != nil {
		c.Close()
		return Step{}, err
	}
	a, err := c.negotiate.pool.parse(text)
	if err != nil {
		c.Close()
		return Step{}, err
	}
	step := Step{Token: a.Value("token"), Answer: a, More: a.Result == TT}
	if step.Token == "=" || step.Token == "*" { // of programs of Samba, which have none
		step.Token = ""
	}
	if !step.More {
		c.Close()
	}
	if a.Result == OK && a.User() == "" {
		return Step{}, fmt.Errorf("helper %s: %w: it lets in a client without the name of a user", c.negotiate.pool.config.Name, ErrBroken)
	}
	return step, nil
}

// ask asks the process of the conversation, or begins one.
func (c *Conversation) ask(ctx context.Context, token string) (text string, err error) {
	if c.seat != nil {
		text, err = c.seat.ask(ctx, "KK "+token)
		if !errors.Is(err, errSeat) {
			return text, err
		}
		c.Close()
	}
	leave, err := c.negotiate.queues.Acquire(ctx, c.client)
	if err != nil {
		return "", err
	}
	text, c.seat, err = c.negotiate.pool.reserve(ctx, "YR "+token, sync.OnceFunc(leave))
	return text, err
}

// Close ends the conversation, and gives its process to others. It may be called several times.
func (c *Conversation) Close() {
	c.seat.release()
	c.seat = nil
}
