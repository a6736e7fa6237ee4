package valkey

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
)

// Limits of replies: the size of what urnd itself can have stored, and some space for the rest of a reply. The
// scripts do not return larger values, which other clients may have stored; a larger log is replaced.
const (
	slack     = 16 << 10 // the reply to HELLO lists the modules of the server
	fewValues = 1 << 10  // for the elements of the same reply

	logBytes  = (retained + 1) * (maxPurge + 256) // 256: identifier, epoch, seal, tag and names of the fields
	logValues = 8*(retained+1) + 16               // an entry has 7 values

	clusterBytes  = 4 << 20 // a thousand nodes with two replicas each, and four slot ranges per node
	clusterValues = 1 << 17
)

// replyKind is the kind of reply that a command has.
type replyKind uint8

const (
	ofLittle replyKind = iota // at most the size of an entry
	ofLog
	ofCluster
)

func (k replyKind) bounds() bounds {
	switch k {
	case ofLog:
		return bounds{logBytes + slack, logValues}
	case ofCluster:
		return bounds{clusterBytes, clusterValues}
	default:
		return bounds{maxEntry + slack, fewValues}
	}
}

// maxConns limits the concurrent connections of a client: 4 to a server, and one to each cluster node that was
// queried for the slots.
const maxConns = 64

var (
	errConns  = fmt.Errorf("%w: limit of %d connections exceeded", errProtocol, maxConns)
	errClosed = errors.New("client closed")
)

// conns are the connections of a client. The zero value has none.
type conns struct {
	suspect atomic.Bool // a server violated the protocol

	mu     sync.Mutex
	open   map[*checkedConn]bool
	closed bool
}

// add returns a connection that checks replies before the client sees them.
func (all *conns) add(conn net.Conn) (net.Conn, error) {
	c := &checkedConn{Conn: conn, all: all}
	c.replies.begin, c.replies.end = c.answer, func() {}
	c.commands.begin, c.commands.end = func() (bounds, error) { return bounds{tooMany, tooMany}, nil }, c.ask
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case all.closed:
		return nil, errors.Join(errClosed, conn.Close())
	case len(all.open) >= maxConns:
		all.suspect.Store(true)
		return nil, errors.Join(errConns, conn.Close())
	case all.open == nil:
		all.open = make(map[*checkedConn]bool)
	}
	all.open[c] = true
	return c, nil
}

// remove removes a closed connection.
func (all *conns) remove(c *checkedConn) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.open, c)
}

// close closes all current and future connections: the client opens some in the background, and leaks them if
// it is closed in between.
func (all *conns) close() {
	all.mu.Lock()
	all.closed = true
	open := slices.Collect(maps.Keys(all.open))
	all.mu.Unlock()
	for _, c := range open {
		_ = c.Close() // the client does not use it any more
	}
}

// checkedConn is a connection to a server that checks the protocol. A violation closes the connection, and the
// reader gets the error like a network error.
//
// The following in the client (valkey-go 1.0.79) can panic, or use unlimited memory, and is unreachable behind
// checkedConn:
//   - resp.go allocates the announced length in readB, readA and readMap (even a negative one), reads lines of any
//     length in readS, recurses at each depth, and joins chunks: all limited here; chunks and attributes are
//     rejected;
//   - pipe.go, _backgroundRead: the panic "message handled out of order" for a reply without a command in the queue.
//     The client queues a command before it writes it, and here a reply needs a completely written command. The
//     other such panics concern subscriptions, whose replies are pushes, which are rejected, or follow an
//     UNSUBSCRIBE, which is never sent. The code for version 6 needs a push in an array;
//   - message.go, IsMoved and IsAsk: the third word of an error, which endOfLine requires; IsRedirect is for a mode
//     that is not used. AsXRead reads maps in pairs, which is safe here: their length is twice the announced number;
//   - sentinel.go and all of client-side caching: not used. The panics of cluster.go concern commands with several
//     slots, and those of streams and URLs calls that urnd does not make.
type checkedConn struct {
	net.Conn
	all *conns

	commands messages // written messages
	replies  messages // read messages

	mu      sync.Mutex
	pending []replyKind // kinds of the commands sent; those from next on have no reply yet
	next    int         // index of the first command without a reply
}

// ask records a completely written command.
func (c *checkedConn) ask() {
	kind := ofLittle
	switch name := c.commands.first[:]; {
	case bytes.HasPrefix(name, []byte("XR")):
		kind = ofLog
	case bytes.HasPrefix(name, []byte("CLUSTER")):
		kind = ofCluster
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) == cap(c.pending) && c.next > 0 {
		c.pending, c.next = c.pending[:copy(c.pending, c.pending[c.next:])], 0
	}
	c.pending = append(c.pending, kind)
}

var errUnexpectedReply = fmt.Errorf("%w: reply without a command", errProtocol)

// answer returns the bounds of a reply that begins.
func (c *checkedConn) answer() (bounds, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == len(c.pending) {
		return bounds{}, errUnexpectedReply
	}
	kind := c.pending[c.next]
	c.next++
	return kind.bounds(), nil
}

// Read implements net.Conn.
func (c *checkedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if wrong := c.replies.check(p[:n]); wrong != nil {
		c.all.suspect.Store(true)
		return 0, errors.Join(wrong, c.Close())
	}
	return n, err
}

// Write implements net.Conn. A command is recorded before it is sent, so that no reply can precede it.
func (c *checkedConn) Write(p []byte) (int, error) {
	if err := c.commands.check(p); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// Close implements net.Conn.
func (c *checkedConn) Close() error {
	c.all.remove(c)
	return c.Conn.Close()
}
