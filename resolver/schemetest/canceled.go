package schemetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
)

// checkCanceledBefore fetches with a context that has ended already.
func checkCanceledBefore(t *testing.T, s Suite) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := s.start(t, Server{Names: plainNames()}, failingWrites{}, generousLimits())
	defer r.close(t)
	for which, text := range r.uris() {
		q := request(t, http.MethodGet, text)
		got := endsIn(t, s.PromptTimeout, "fetching "+text+" with a cancelled context",
			func() outcome { return r.fetch(ctx, q) })
		if s.Peer != nil && got.err == nil {
			t.Errorf("%s: fetched with a cancelled context: %s", which, got)
		}
	}
}

// checkCanceledConnect cancels while the handler dials.
func checkCanceledConnect(t *testing.T, s Suite) {
	r := s.start(t, Server{Names: plainNames()}, failingWrites{}, generousLimits())
	defer r.close(t)
	for which, text := range r.uris() {
		ctx, cancel := context.WithCancel(t.Context())
		r.dialer.before = func(ctx context.Context) error {
			cancel()
			<-ctx.Done()
			return context.Cause(ctx)
		}
		q := request(t, http.MethodGet, text)
		if got := endsIn(t, s.PromptTimeout, "a canceled connect",
			func() outcome { return r.fetch(ctx, q) }); !errors.Is(got.err, context.Canceled) {
			t.Errorf("%s: connect cancelled: %s", which, got)
		}
		cancel()
	}
}

// checkCanceledReply cancels while the server is silent.
func checkCanceledReply(t *testing.T, s Suite) {
	for which := range s.names() {
		want, address, total := s.plain(t, which)
		for _, after := range positions(total, 8) {
			ctx, cancel := context.WithCancel(t.Context())
			r := s.start(t, Server{Names: plainNames()}, failingWrites{kind: failureSilent, after: after},
				generousLimits())
			var canceling sync.WaitGroup
			canceling.Go(func() {
				select {
				case <-r.server.reached:
				case <-ctx.Done():
				}
				cancel()
			})
			q := request(t, http.MethodGet, r.uris()[which])
			got := endsIn(t, s.PromptTimeout, "a canceled reply", func() outcome { return r.fetch(ctx, q) })
			if got.complete() && !got.equal(r.server.address(), want, address) {
				t.Errorf("%s cancelled after %d bytes of %d accepted as complete: %s", which, after, total, got)
			}
			cancel()
			canceling.Wait()
			r.close(t)
		}
	}
}

// checkCanceledBody cancels in the middle of a body, and closes another one early.
func checkCanceledBody(t *testing.T, s Suite) {
	if s.Resource == nil {
		t.Skip("no resource")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body := &silentBody{blocked: make(chan struct{}), released: make(chan struct{})}
	block := sync.OnceFunc(func() { close(body.blocked) })
	r := s.start(t, Server{Names: plainNames(), Body: func() io.Reader {
		return io.MultiReader(bytes.NewReader(byteSequence(64<<10)), blocking{body, block})
	}}, failingWrites{}, generousLimits())
	var canceling sync.WaitGroup
	canceling.Go(func() {
		<-body.blocked
		cancel()
	})
	q := request(t, http.MethodGet, r.uris()["resource"])
	if got := endsIn(t, s.PromptTimeout, "a canceled body", func() outcome { return r.fetch(ctx, q) }); got.err == nil {
		t.Errorf("cancelled body accepted as complete: %s", got)
	}
	block() // in case the body was never read
	canceling.Wait()
	close(body.released)
	r.close(t)
	checkClosedEarly(t, s)
}

// checkClosedEarly closes a body that does not end.
func checkClosedEarly(t *testing.T, s Suite) {
	t.Helper()
	r := s.start(t, Server{Names: plainNames(), Body: func() io.Reader { return endless{} }}, failingWrites{},
		generousLimits())
	defer r.close(t)
	q := request(t, http.MethodGet, r.uris()["resource"])
	endsIn(t, s.PromptTimeout, "closing a body early", func() bool {
		resource, err := r.handler.Fetch(t.Context(), q)
		if err != nil {
			return false // the handler reads the body as a whole
		}
		_, _ = io.ReadFull(resource.Body, make([]byte, 1))
		_ = resource.Body.Close()
		return true
	})
}

// silentBody synchronizes the test with the position where a body stops.
type silentBody struct{ blocked, released chan struct{} }

type blocking struct {
	body  *silentBody
	block func()
}

// Read implements io.Reader.
func (b blocking) Read([]byte) (int, error) {
	b.block()
	<-b.body.released
	return 0, io.ErrUnexpectedEOF
}

// names returns the kinds of URIs of the suite: "resource", "listing".
func (s Suite) names() map[string]bool {
	names := make(map[string]bool)
	if s.Resource != nil {
		names["resource"] = true
	}
	if s.Listing != nil {
		names["listing"] = true
	}
	return names
}

// positions returns about n of the positions below total, including the first and the last ones.
func positions(total int64, n int64) []int64 {
	var some []int64
	step := max(total/n, 1)
	for at := int64(0); at < total; at += step {
		some = append(some, at)
	}
	for at := max(total-n/4, 0); at < total; at++ {
		if at%step != 0 {
			some = append(some, at)
		}
	}
	return some
}
