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

// What replies may have is what urnd can have stored, and some room for what the server says besides. Of what is larger, as others may have stored it,
// the scripts say nothing; a log that is larger is replaced.
const (
	slack     = 16 << 10 // the reply to HELLO lists the modules of the server
	fewValues = 1 << 10  // likewise

	logOctets = (retained + 1) * (maxPurge + 256) // 256: identifier, epoch, seal, tag and names of the fields
	logValues = 8*(retained+1) + 16               // an entry has 7 values

	clusterOctets = 4 << 20 // a thousand nodes with two replicas each, whose slots are in four ranges
	clusterValues = 1 << 17
)

// replyKind is what the reply to a command is about.
type replyKind uint8

const (
	ofLittle replyKind = iota // an entry is the largest of it
	ofLog
	ofCluster
)

func (k replyKind) bounds() bounds {
	switch k {
	case ofLog:
		return bounds{logOctets + slack, logValues}
	case ofCluster:
		return bounds{clusterOctets, clusterValues}
	default:
		return bounds{maxEntry + slack, fewValues}
	}
}

// maxConns is how many connections a client has at a time: 4 to a server, and one to each node of a cluster that was asked where the slots are.
const maxConns = 64

var (
	errConns  = fmt.Errorf("%w: it leads to more than %d connections", errProtocol, maxConns)
	errClosed = errors.New("the client is closed")
)

// conns are the connections of a client. The zero value has none.
type conns struct {
	isSuspect atomic.Bool // a server was caught

	mu       sync.Mutex
	open     map[*checkedConn]bool
	isClosed bool
}

// add returns a connection whose replies are checked before the client sees them.
func (all *conns) add(conn net.Conn) (net.Conn, error) {
	c := &checkedConn{Conn: conn, all: all}
	c.replies.begin, c.replies.end = c.answer, func() {}
	c.commands.begin, c.commands.end = func() (bounds, error) { return bounds{tooMany, tooMany}, nil }, c.ask
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case all.isClosed:
		return nil, errors.Join(errClosed, conn.Close())
	case len(all.open) >= maxConns:
		all.isSuspect.Store(true)
		return nil, errors.Join(errConns, conn.Close())
	case all.open == nil:
		all.open = make(map[*checkedConn]bool)
	}
	all.open[c] = true
	return c, nil
}

// remove forgets a connection.
func (all *conns) remove(c *checkedConn) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.open, c)
}

// close closes all connections, and those that are made from now on: the client makes some in the background, and forgets them where it is
// closed meanwhile.
func (all *conns) close() {
	all.mu.Lock()
	all.isClosed = true
	open := slices.Collect(maps.Keys(all.open))
	all.mu.Unlock()
	for _, c := range open {
		_ = c.Close() // the client has no use for it, and none for its error
	}
}

// checkedConn is a connection to a server. For one violation all ends: the reader is given the error, as one of the network.
//
// What can panic, or take memory without end, in the client (valkey-go 1.0.79), and is not reached behind it:
//   - resp.go makes what it is told in readB, readA and readMap (also of negative lengths), reads lines of any length in readS, calls itself for each
//     depth, and joins chunks: bounds, and chunks and attributes are refused;
//   - pipe.go, _backgroundRead: "message handled out of order" without a command in the queue. It marks a command there before it writes it, and
//     here a reply needs one that was written whole. The other such panics are about subscriptions, whose replies are pushes and refused, or follow an
//     UNSUBSCRIBE, which is never sent. What it does for version 6 needs a push in an array;
//   - message.go, IsMoved and IsAsk: the third word of an error, which endOfLine requires; IsRedirect is of a mode that is not used. AsXRead takes maps in
//     pairs, which they have here: their length is twice what is said;
//   - sentinel.go and all of client-side caching: not used. The panics of cluster.go are about commands of several slots, and those of streams and
//     URLs about calls that urnd does not make.
type checkedConn struct {
	net.Conn
	all *conns

	commands messages // that are written
	replies  messages // that are read

	mu    sync.Mutex
	asked []replyKind // those without a reply are behind answered
	next  int         // the first of these
}

// ask notes that a command was written whole.
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
	if len(c.asked) == cap(c.asked) && c.next > 0 {
		c.asked, c.next = c.asked[:copy(c.asked, c.asked[c.next:])], 0
	}
	c.asked = append(c.asked, kind)
}

var errUnasked = fmt.Errorf("%w: a reply is to no question", errProtocol)

// answer returns the bounds of a reply that begins.
func (c *checkedConn) answer() (bounds, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == len(c.asked) {
		return bounds{}, errUnasked
	}
	kind := c.asked[c.next]
	c.next++
	return kind.bounds(), nil
}

// Read implements net.Conn.
func (c *checkedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if wrong := c.replies.check(p[:n]); wrong != nil {
		c.all.isSuspect.Store(true)
		return 0, errors.Join(wrong, c.Close())
	}
	return n, err
}

// Write implements net.Conn. A command counts before it is sent, so that no reply is earlier.
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
