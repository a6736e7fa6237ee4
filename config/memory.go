package config

import (
	"cmp"
	"fmt"
	"strings"
)

// minMemory is what urnd needs with almost empty caches.
const minMemory = 32 << 20

// The memory of one of many, at most, in bytes.
const (
	connectionMemory = 32 << 10  // with its goroutine and buffers, after a request
	secureMemory     = 64 << 10  // likewise with TLS and HTTP/2, without the requests that it has at a time
	http2Memory      = 32 << 10  // a request by HTTP/2 whose response waits for its client to open a flow-control window
	receiveMemory    = 256 << 10 // of a body by HTTP/2 that is not read yet
	requestMemory    = 32 << 10  // a name that is resolved
	fetchMemory      = 128 << 10 // two blocks of a body that is only passed on
	streamMemory     = 128 << 10 // a buffer for each direction that carries something
	batchMemory      = 16 << 20  // its largest body
	batches          = 8         // at a time
	registryMemory   = 136 << 20 // the page caches of SQLite
)

// memoryUse is the most memory that a setting allows.
type memoryUse struct {
	setting string
	most    Size
}

// A client may have so many requests by HTTP/2 at a time on a connection: the most is what RFC 9113 section 6.5.2 recommends at least,
// and the least is as many as browsers make by the connections that they open by HTTP/1.1.
const (
	leastHTTP2Requests = 8
	mostHTTP2Requests  = 100
)

// HTTP2Requests returns how many requests a client may have at a time on a connection by HTTP/2: as many as limits.memory, or else
// available, of which 0 is no bound, has room for if limits.connections do so.
func (c Config) HTTP2Requests(available Size) int {
	memory := cmp.Or(c.Limits.Memory, available)
	if memory == 0 {
		return mostHTTP2Requests
	}
	room := int64(memory) - int64(sum(c.memoryUses(0)))
	return int(min(max(room/int64(c.Limits.Connections)/http2Memory, leastHTTP2Requests), mostHTTP2Requests))
}

// hasHTTP2 reports whether clients may use HTTP/2.
func (c Config) hasHTTP2() bool { return len(c.Listen.TLS) > 0 && c.Listen.HTTP2 }

func sum(uses []memoryUse) (all Size) {
	for _, use := range uses {
		all += use.most
	}
	return all
}

// memoryUses returns what the settings allow, with so many requests of a connection by HTTP/2, and what urnd needs itself.
func (c Config) memoryUses(http2Requests int) []memoryUse {
	l := c.Limits
	connection, receive := Size(connectionMemory), Size(0)
	if len(c.Listen.TLS) > 0 {
		connection = secureMemory
	}
	if c.hasHTTP2() {
		receive = receiveMemory
	}
	uses := []memoryUse{
		{"cache.answers", c.Cache.Answers},
		{"cache.records", c.Cache.Records},
		{"cache.responses and a quarter for those that arrive", c.Cache.Responses + c.Cache.Responses/4},
		{"limits.documents", l.Documents},
		{"limits.connections", Size(l.Connections) * connection},
		{"limits.requests", Size(l.Requests) * requestMemory},
		{"limits.fetches", Size(l.Fetches) * (fetchMemory + receive)},
		{"limits.streams", Size(min(l.Streams, max(l.Outgoing/2, 1))) * (streamMemory + receive)},
		{"batches", batches * batchMemory},
	}
	if c.hasHTTP2() && http2Requests > 0 {
		uses = append(uses, memoryUse{
			fmt.Sprintf("limits.connections by HTTP/2 with %d requests each", http2Requests), Size(l.Connections*http2Requests) * http2Memory,
		})
	}
	if strings.HasPrefix(c.Registry.Store, "sqlite:") {
		uses = append(uses, memoryUse{"registry.store", registryMemory})
	}
	return append(uses, memoryUse{"urnd itself", minMemory})
}

// MemoryFaults returns the fault of settings that allow more memory together than urnd may have: limits.memory or, where
// that is 0, available, of which 0 is no bound; and of a limits.memory that is more than there is.
func (c Config) MemoryFaults(available Size) Faults {
	uses := c.memoryUses(c.HTTP2Requests(available))
	all := sum(uses)
	parts := make([]string, 0, len(uses))
	for _, use := range uses {
		parts = append(parts, use.setting+" "+show(use.most))
	}
	var f Faults
	const ofGroup, room = "this process may have", 8 // available leaves room, which a limit that is set may use
	switch l := c.Limits.Memory; {
	case l > 0 && l < all:
		f.Add("limits.memory", "%s is less than %s, which the settings allow together: %s: write limits.memory: %s%s", show(l), show(all),
			strings.Join(parts, ", "), show(wholeMiB(all)), c.fewerConnections(l))
	case l == 0 && available > 0 && available < all:
		f.Add("limits.memory", ofGroup+" %s by its control group or container, and the settings allow %s together: "+
			"%s: make some of them smaller%s", show(available), show(all), strings.Join(parts, ", "), c.fewerConnections(available))
	case available > 0 && l > available+available/room:
		f.Add("limits.memory", "%s is more than "+ofGroup+" by its control group or container, %s: write that, or delete the line",
			show(l), show(available))
	}
	return f
}

// fewerConnections says which limits.connections there is memory for, "" where they are not why it is too little.
func (c Config) fewerConnections(memory Size) string {
	const few = 16 // nobody is helped by fewer
	all, before := sum(c.memoryUses(leastHTTP2Requests)), c.Limits.Connections
	c.Limits.Connections = 0
	others := sum(c.memoryUses(leastHTTP2Requests))
	n := 0
	if others < memory {
		n = int((memory - others) / ((all - others) / Size(before)))
	}
	if n < few {
		return ""
	}
	return fmt.Sprintf(", or limits.connections: %d", n)
}

// wholeMiB rounds up.
func wholeMiB(size Size) Size { return (size + 1<<20 - 1) >> 20 << 20 }

// heldMemory is what the caches, and urnd without them, may take.
func heldMemory(c Cache) Size { return c.Answers + c.Records + c.Responses + c.Responses/4 + minMemory }
