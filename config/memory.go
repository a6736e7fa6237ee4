package config

import "strings"

// minMemory is what urnd needs with almost empty caches.
const minMemory = 32 << 20

// The memory of one of many, at most, in bytes.
const (
	connectionMemory = 32 << 10  // with its goroutine and buffers, after a request
	secureMemory     = 64 << 10  // likewise with TLS and HTTP/2
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

// memoryUses returns what the settings allow, and what urnd needs itself.
func (c Config) memoryUses() []memoryUse {
	l := c.Limits
	connection, receive := Size(connectionMemory), Size(0)
	if len(c.Listen.TLS) > 0 {
		connection = secureMemory
		if c.Listen.HTTP2 {
			receive = receiveMemory
		}
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
	if strings.HasPrefix(c.Registry.Store, "sqlite:") {
		uses = append(uses, memoryUse{"registry.store", registryMemory})
	}
	return append(uses, memoryUse{"urnd itself", minMemory})
}

// MemoryFaults returns the fault of settings that allow more memory together than urnd may have: limits.memory or, where
// that is 0, available, of which 0 is no bound; and of a limits.memory that is more than there is.
func (c Config) MemoryFaults(available Size) Faults {
	sum, uses := Size(0), c.memoryUses()
	parts := make([]string, 0, len(uses))
	for _, use := range uses {
		sum += use.most
		parts = append(parts, use.setting+" "+show(use.most))
	}
	var f Faults
	const ofGroup, room = "this process may have", 8 // available leaves room, which a limit that is set may use
	switch l := c.Limits.Memory; {
	case l > 0 && l < sum:
		f.add("limits.memory", "%s is less than %s, which the settings allow together: %s", show(l), show(sum), strings.Join(parts, ", "))
	case l == 0 && available > 0 && available < sum:
		f.add("limits.memory", ofGroup+" %s by its control group or container, and the settings allow %s together: "+
			"%s: make some of them smaller", show(available), show(sum), strings.Join(parts, ", "))
	case available > 0 && l > available+available/room:
		f.add("limits.memory", "%s is more than "+ofGroup+" by its control group or container, %s: write that, or delete the line",
			show(l), show(available))
	}
	return f
}

// heldMemory is what the caches, and urnd without them, may take.
func heldMemory(c Cache) Size { return c.Answers + c.Records + c.Responses + c.Responses/4 + minMemory }
