// Package webhook tells another server, such as that of a CDN, what it has to purge.
package webhook

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Config configures a Sender. All fields but Secret and Field must be set.
type Config struct {
	URL string
	// Secret returns what is sent as a bearer token (RFC 6750), for each call; nil sends none.
	Secret func() (string, error)
	All    string // the tag of everything
	// Field also has the tags, with Separator between them, for servers that read no JSON; "" is none.
	Field, Separator string
	Dial             func(ctx context.Context, network, address string) (net.Conn, error)
	// Called is called with the outcome of each call, and Report with why calls fail, and with nil when they succeed again.
	Called func(err error)
	Report func(err error)
	// Lost is called where there is no time to send tags any more.
	Lost  func(tags int)
	After func(time.Duration) <-chan time.Time
}

// The bounds of a Sender.
const (
	maxPending = 10_000 // tags: more are one of everything
	maxTags    = 30     // of one call
	// batchDelay is how long tags are gathered before they are sent. A reply that was made before the change has come where it is stored by
	// then, and is purged with the others.
	batchDelay   = 250 * time.Millisecond
	timeout      = 10 * time.Second // of a call
	firstBackoff = time.Second      // the time to the next call after a failure, which doubles
	maxBackoff   = time.Minute
	closeTimeout = 5 * time.Second // for what is left at the end
)

// Sender sends tags by POST, each at least once, until they are taken: the order is not kept. It is safe for concurrent use.
type Sender struct {
	config    Config
	transport *http.Transport // a client would follow redirects with the secret
	cancel    context.CancelFunc
	once      sync.Once
	ended     chan struct{}
	wake      chan struct{}

	mu      sync.Mutex
	pending map[string]struct{}
	fault   error
	closed  bool
}

// New returns a Sender, which sends nothing before Start is called.
func New(config Config) *Sender {
	return &Sender{
		config: config, pending: make(map[string]struct{}), wake: make(chan struct{}, 1), ended: make(chan struct{}), cancel: func() {},
		transport: &http.Transport{DialContext: config.Dial, MaxIdleConns: 1, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true},
	}
}

// Add adds tags to be sent. It never waits.
func (s *Sender) Add(tags ...string) {
	s.mu.Lock()
	for _, tag := range tags {
		s.add(tag)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// add adds a tag, unless everything is to be purged anyway. The caller holds the lock.
func (s *Sender) add(tag string) {
	if _, all := s.pending[s.config.All]; all {
		return
	}
	if tag == s.config.All || len(s.pending) >= maxPending {
		clear(s.pending)
		tag = s.config.All
	}
	s.pending[tag] = struct{}{}
}

// take returns tags of one call, and removes them.
func (s *Sender) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var tags []string
	for tag := range s.pending {
		if len(tags) == maxTags {
			break
		}
		tags = append(tags, tag)
		delete(s.pending, tag)
	}
	return tags
}

// Pending returns how many tags are to be sent.
func (s *Sender) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending)
}

// Faults are what is wrong with the server.
func (s *Sender) Faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		return nil
	}
	return []string{"caches in front of urnd are not told what to purge: " + s.fault.Error()}
}

// Start sends in the background until Close is called. Only the first call does.
func (s *Sender) Start() {
	s.once.Do(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed {
			return
		}
		var ctx context.Context
		ctx, s.cancel = context.WithCancel(context.Background())
		go func() {
			defer close(s.ended)
			s.run(ctx)
		}()
	})
}

// Close sends what is left, for a short time, and ends.
func (s *Sender) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.once.Do(func() { close(s.ended) })
	s.cancel()
	<-s.ended
	ctx, end := context.WithTimeout(context.Background(), closeTimeout)
	defer end()
	for tags := s.take(); len(tags) > 0; tags = s.take() {
		if err := s.call(ctx, tags); err != nil {
			s.config.Lost(len(tags) + s.Pending())
			break
		}
	}
	s.transport.CloseIdleConnections()
}
