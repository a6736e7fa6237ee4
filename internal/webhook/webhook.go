// Package webhook notifies another server, such as that of a CDN, which cached content to purge. Cache tags
// enter with Sender.Add; they leave in batches by POST requests as a JSON document {"tags": [...]}, optionally
// also in a header field, and with a bearer token (RFC 6750). Each tag is delivered at least once; failed calls
// are retried with exponential backoff.
package webhook

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Config configures a Sender. All fields are required except Secret and Field.
type Config struct {
	URL string
	// Secret returns the bearer token (RFC 6750) for each call; nil sends none.
	Secret func() (string, error)
	AllTag string // tag for all content
	// Field is a header field that also contains the tags, joined with Separator, for servers that do not read
	// JSON; "" for none.
	Field, Separator string
	Dial             func(ctx context.Context, network, address string) (net.Conn, error)
	// Called is called with the result of each call. Report is called with the error when calls start to fail,
	// and with nil when they succeed again.
	Called func(err error)
	Report func(err error)
	// Lost is called at the end if there is no time left to send pending tags.
	Lost  func(tags int)
	After func(time.Duration) <-chan time.Time
}

// Limits of a Sender.
const (
	maxPending = 10_000 // number of pending tags; more are replaced by AllTag
	maxTags    = 30     // per call
	// batchDelay is the time for which tags are gathered before they are sent. A response generated before the
	// change has been stored downstream by then, and is purged as well.
	batchDelay   = 250 * time.Millisecond
	timeout      = 10 * time.Second // per call
	firstBackoff = time.Second      // delay after a failure, which doubles with each further one
	maxBackoff   = time.Minute
	closeTimeout = 5 * time.Second // for pending tags at the end
)

// Sender sends tags by POST requests, each tag at least once, until they are accepted. The order is not
// preserved. It is safe for concurrent use.
type Sender struct {
	config    Config
	transport *http.Transport // an http.Client would follow redirects with the secret
	cancel    context.CancelFunc
	once      sync.Once
	ended     chan struct{}
	wake      chan struct{}

	mu      sync.Mutex
	pending map[string]bool // the tags to be sent, and whether batchDelay has passed
	failure error
	closed  bool
}

// New returns a Sender, which sends nothing before Start is called.
func New(config Config) *Sender {
	return &Sender{
		config: config, pending: make(map[string]bool), wake: make(chan struct{}, 1), ended: make(chan struct{}),
		cancel: func() {},
		transport: &http.Transport{
			DialContext: config.Dial, MaxIdleConns: 1, IdleConnTimeout: time.Minute,
			ForceAttemptHTTP2: true,
		},
	}
}

// Add adds tags to be sent. It never blocks.
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

// add adds a tag, or the one for all content if that is to be purged anyway; s.mu is held.
func (s *Sender) add(tag string) {
	if _, all := s.pending[s.config.AllTag]; all {
		tag = s.config.AllTag
	}
	if tag == s.config.AllTag || len(s.pending) >= maxPending {
		clear(s.pending)
		tag = s.config.AllTag
	}
	s.pending[tag] = false
}

// gather marks the pending tags as due: batchDelay has passed.
func (s *Sender) gather() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for tag := range s.pending {
		s.pending[tag] = true
	}
}

// take removes and returns the due tags for one call.
func (s *Sender) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var tags []string
	for tag, due := range s.pending {
		if len(tags) == maxTags {
			break
		}
		if !due {
			continue
		}
		tags = append(tags, tag)
		delete(s.pending, tag)
	}
	return tags
}

// Pending returns the number of tags to be sent.
func (s *Sender) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending)
}

// Failures returns the current problem of the server, if any.
func (s *Sender) Failures() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil {
		return nil
	}
	return []string{"purge webhooks are failing: " + s.failure.Error()}
}

// Start sends tags in the background until Close is called. Further calls have no effect.
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

// Close sends pending tags for at most closeTimeout and stops.
func (s *Sender) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.once.Do(func() { close(s.ended) })
	s.cancel()
	<-s.ended
	ctx, end := context.WithTimeout(context.Background(), closeTimeout)
	defer end()
	s.gather()
	for tags := s.take(); len(tags) > 0; tags = s.take() {
		if err := s.call(ctx, tags); err != nil {
			s.config.Lost(len(tags) + s.Pending())
			break
		}
	}
	s.transport.CloseIdleConnections()
}
