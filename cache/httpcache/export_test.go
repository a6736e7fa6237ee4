package httpcache

import "github.com/urnd/urnd/cache/httpcache/body"

// Waiting returns the number of clients that have joined the exchanges of a key, including their leaders.
func (c *Cache) Waiting(key string) int {
	n := 0
	for _, f := range c.flightsOf(key) {
		f.mu.Lock()
		n += f.joined
		f.mu.Unlock()
	}
	return n
}

// Flights returns the number of running exchanges of a key.
func (c *Cache) Flights(key string) int { return len(c.flightsOf(key)) }

// Readers returns the number of clients that read the arriving bodies of a key.
func (c *Cache) Readers(key string) int {
	n := 0
	for _, f := range c.flightsOf(key) {
		if !f.published.Load() || f.result == nil {
			continue
		}
		if b, ok := f.result.content.(*body.Arriving); ok {
			reading, _ := b.Clients()
			n += reading
		}
	}
	return n
}

// Awaiting returns the number of clients that wait for the end of the arriving bodies of a key.
func (c *Cache) Awaiting(key string) int {
	n := 0
	for _, f := range c.flightsOf(key) {
		if !f.published.Load() || f.result == nil {
			continue
		}
		if b, ok := f.result.content.(*body.Arriving); ok {
			_, awaiting := b.Clients()
			n += awaiting
		}
	}
	return n
}

func (c *Cache) flightsOf(key string) []*flight {
	s := c.storage.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*flight
	for f := s.flights[key]; f != nil; f = f.next {
		all = append(all, f)
	}
	return all
}

// PurgeAll purges a selection, and returns the number of purged responses.
func (c *Cache) PurgeAll(s Selection, hard bool) int {
	purged, _ := c.BeginPurge(s, hard)()
	return purged
}

// Arriving returns the memory of arriving bodies in bytes.
func (c *Cache) Arriving() int64 { return c.arriving.Used() }

// InMemory reports whether memory has an entry for a key.
func (c *Cache) InMemory(key string) bool { return c.config.Store != nil && c.storage.peek(key) != nil }

// Purging reports whether a purge is not carried out yet.
func (c *Cache) Purging() bool { return len(c.purges.all()) > 0 }
