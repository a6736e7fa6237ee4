package main

import (
	"net/http"
	"sync"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/metrics"
)

// generation is a configuration that is in force, until another one takes its place.
type generation struct {
	config  config.Config
	parts   *parts
	log     *output
	running sync.WaitGroup // requests
}

// current is the generation in force. It is safe for concurrent use.
type current struct {
	mu         sync.RWMutex
	generation *generation
}

// take returns the generation in force, which then lives until its running is done.
func (c *current) take() *generation {
	c.mu.RLock()
	defer c.mu.RUnlock()
	c.generation.running.Add(1)
	return c.generation
}

// replace puts a generation in force, and returns the one before it.
func (c *current) replace(next *generation) *generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.generation
	c.generation = next
	return before
}

// handler passes each request on to what pick names of the generation in force.
func (c *current) handler(pick func(*parts) http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g := c.take()
		defer g.running.Done()
		pick(g.parts).ServeHTTP(w, r)
	})
}

// caches returns what the caches say of themselves.
func (c *current) caches() []metrics.Cache {
	g := c.take()
	defer g.running.Done()
	return g.parts.caches()
}

// retire closes a generation when its last request ends.
func (g *generation) retire() {
	g.running.Wait()
	g.parts.close()
	g.log.close()
}
