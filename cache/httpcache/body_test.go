package httpcache_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

const fresh = "Cache-Control: max-age=60"

// pattern returns a body without repetitions.
func pattern(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(string(rune('a'+i%26)) + string(rune('A'+i/26%26)) + string(rune('0'+i/676%10)))
	}
	return b.String()[:n]
}

// TestJoin: clients that request a body while it arrives get it, or the requested parts. If its length is
// unknown, they wait for the end.
func TestJoin(t *testing.T) {
	leakless(t)
	for _, test := range []struct {
		size, length int64
		awaits       bool // followers wait for the end
	}{
		{300 << 10, 300 << 10, false}, {10, 10, true}, {10, -1, true}, {300 << 10, -1, true},
	} {
		s := newSite(t, nil)
		want := pattern(int(test.size))
		streams := s.streams(test.length, fresh)
		first := s.start(nil)
		origin := <-streams
		io.WriteString(origin, want[:5])
		s.eventually("the first one gets what is there", func() bool { return first.received() == 5 })
		late, part := s.start(nil), s.start(nil, "Range: bytes=3-7")
		if test.awaits {
			s.eventually("the late ones wait", func() bool { return s.cache.Awaiting(target) == 2 })
		} else {
			s.eventually("the late one too", func() bool { return late.received() == 5 })
			s.eventually("and one that wants a part", func() bool { return part.received() == 2 })
		}
		io.WriteString(origin, want[5:])
		origin.Close()
		first.whole(want)
		late.whole(want)
		part.whole(want[3:8])
		if g := part.end(); g.Status != 206 || !g.Outcome.Collapsed {
			t.Errorf("%d %s", g.Status, g.Outcome.Status("urnd"))
		}
		if !late.end().Outcome.Collapsed || s.count() != 1 {
			t.Errorf("%s, %d requests", late.end().Outcome.Status("urnd"), s.count())
		}
		s.expect(s.get(), 200, want, true)
	}
}

// TestLeaderLeaves: a leader that leaves within the body does not affect the other clients.
func TestLeaderLeaves(t *testing.T) {
	leakless(t)
	s := newSite(t, nil)
	streams := s.streams(1<<20, fresh)
	leader := s.start(nil)
	origin := <-streams
	body := pattern(1 << 20)
	io.WriteString(origin, body[:1000])
	var others []*client
	for range 5 {
		others = append(others, s.start(nil))
	}
	for _, other := range others {
		s.eventually("it reads", func() bool { return other.received() == 1000 })
	}
	leader.stop()
	others[0].stop()
	io.WriteString(origin, body[1000:])
	for _, other := range others[1:] {
		other.whole(body)
	}
	<-leader.done
	<-others[0].done
	s.expect(s.get(), 200, body, true)
	if s.count() != 1 {
		t.Errorf("%d requests", s.count())
	}
}

// TestServerEnds: an origin that stalls does not delay the shutdown of the server, even if little is left to
// read.
func TestServerEnds(t *testing.T) {
	leakless(t)
	s := newSite(t, nil)
	streams := s.streams(1000, fresh)
	c := s.start(nil)
	origin := <-streams
	io.WriteString(origin, "begin")
	s.eventually("it reads", func() bool { return c.received() == 5 })
	c.cut(http.ErrServerClosed)
	<-c.done
	s.eventually("the exchange ends", func() bool { return origin.ctx.Err() != nil && origin.closed.Load() })
}

// TestAllLeave: the exchange ends with the last client, unless little is left to read.
func TestAllLeave(t *testing.T) {
	leakless(t)
	for _, length := range []int64{1 << 20, -1} {
		s := newSite(t, nil)
		streams := s.streams(length, fresh)
		clients := []*client{s.start(nil)}
		origin := <-streams
		clients = append(clients, s.start(nil))
		io.WriteString(origin, "begin")
		s.eventually("it reads", func() bool { return clients[0].received() == 5 })
		if length < 0 {
			s.eventually("the other one waits", func() bool { return s.cache.Awaiting(target) == 1 })
		} else {
			s.eventually("the other one too", func() bool { return clients[1].received() == 5 })
		}
		for _, c := range clients {
			c.stop()
		}
		for _, c := range clients {
			<-c.done // the client that reads from the origin goes on for the others until more has arrived
		}
		s.eventually("the exchange ends", func() bool { return origin.ctx.Err() != nil && origin.closed.Load() })
		s.sends(200, "whole", fresh)
		s.expect(s.get(), 200, "whole", false)
	}

	s := newSite(t, nil)
	streams := s.streams(1000, fresh)
	c := s.start(nil)
	origin := <-streams
	body := pattern(1000)
	io.WriteString(origin, body[:10])
	s.eventually("it reads", func() bool { return c.received() == 10 })
	c.stop()
	s.eventually("it has left", func() bool { return s.cache.Readers(target) == 0 })
	io.WriteString(origin, body[10:500])
	<-c.done
	io.WriteString(origin, body[500:])
	s.eventually("it is stored", func() bool { return s.cache.Flights(target) == 0 })
	s.expect(s.get(), 200, body, true)
}

// TestCloseEndsRest: Close ends the reading of a body that only the store needs.
func TestCloseEndsRest(t *testing.T) {
	leakless(t)
	s := newSite(t, nil)
	streams := s.streams(1000, fresh)
	c := s.start(nil)
	origin := <-streams
	io.WriteString(origin, "begin")
	s.eventually("it reads", func() bool { return c.received() == 5 })
	c.stop()
	s.eventually("it has left", func() bool { return s.cache.Readers(target) == 0 })
	io.WriteString(origin, "x")
	<-c.done
	s.cache.Close()
	s.eventually("the exchange ends", func() bool { return origin.closed.Load() })
}

// TestSlowBesideFast: a slow client does not delay the others, whether the length of the body is known or not.
// A body that turns out to be too large to store is requested by each client.
func TestSlowBesideFast(t *testing.T) {
	leakless(t)
	const size = 8 << 20
	body := pattern(size)
	for _, length := range []int64{size, -1} {
		s := newSite(t, func(c *httpcache.Config) { c.MaxObject = 1 << 20 })
		streams := s.streams(length, fresh)
		blocked := make(chan struct{})
		send := func(origin *stream) { io.WriteString(origin, body); origin.Close() }
		slow := s.start(blocked)
		first := <-streams
		fast := s.start(nil)
		if length < 0 {
			s.eventually("the fast one waits for the end", func() bool { return s.cache.Awaiting(target) == 1 })
		}
		go send(first)
		go send(<-streams)
		fast.whole(body)
		close(blocked)
		slow.whole(body)
		s.sends(200, "next", fresh)
		s.expect(s.get(), 200, "next", false)
	}
}

// TestSlowLeader: a body of unknown length is read for the followers regardless of the pace of the leader.
func TestSlowLeader(t *testing.T) {
	leakless(t)
	body := pattern(3 << 20)
	s := newSite(t, nil)
	streams := s.streams(-1, fresh)
	blocked := make(chan struct{})
	slow := s.start(blocked)
	origin := <-streams
	fast := s.start(nil)
	s.eventually("the fast one waits for the end", func() bool { return s.cache.Awaiting(target) == 1 })
	go func() { io.WriteString(origin, body); origin.Close() }()
	fast.whole(body)
	close(blocked)
	slow.whole(body)
	if s.count() != 1 {
		t.Errorf("%d requests", s.count())
	}
}

// TestBudget: without memory budget a body is passed through, and neither stored nor shared.
func TestBudget(t *testing.T) {
	leakless(t)
	body := pattern(1 << 20)
	s := newSite(t, func(c *httpcache.Config) { c.MaxArriving = 100 << 10 })
	for _, length := range []int64{int64(len(body)), -1} {
		streams := s.streams(length, fresh)
		send := func(origin *stream) { io.WriteString(origin, body); origin.Close() }
		one := s.start(nil)
		first := <-streams
		other := s.start(nil)
		if length < 0 {
			s.eventually("it waits", func() bool { return s.cache.Awaiting(target) == 1 })
		}
		go send(first)
		go send(<-streams)
		one.whole(body)
		other.whole(body)
		s.sends(200, "small", fresh)
		s.expect(s.get(), 200, "small", false)
		s.expect(s.get(), 200, "small", true)
		s.clock.advance(2 * time.Hour) // longer than Config.StaleFor
	}
}

// TestPanic: the followers of a request that panics request the resource themselves.
func TestPanic(t *testing.T) {
	leakless(t)
	s := newSite(t, nil)
	header := make(chan struct{})
	s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
		if s.count() == 1 {
			<-header
			panic("the way to the origin")
		}
		return s.response(200, "a", fresh), nil
	}
	leader := s.start(nil)
	s.eventually("it asks", func() bool { return s.count() == 1 })
	other := s.start(nil)
	s.eventually("both wait", func() bool { return s.cache.Waiting(target) == 2 })
	close(header)
	if g := leader.end(); !errors.Is(g.err, errPanic) {
		t.Errorf("%v", g.err)
	}
	other.whole("a")
	if n := s.cache.Flights(target); n != 0 {
		t.Errorf("%d exchanges are left", n)
	}
}

// TestWaitingLeaves: the wait of a client ends when the client leaves.
func TestWaitingLeaves(t *testing.T) {
	leakless(t)
	s := newSite(t, nil)
	streams := s.streams(1, fresh)
	header := make(chan struct{})
	respond := s.respond
	s.respond = func(ctx context.Context, r sent) (*httpmessage.Response, error) { <-header; return respond(ctx, r) }
	leader, other := s.start(nil), s.start(nil)
	s.eventually("both wait", func() bool { return s.cache.Waiting(target) == 2 })
	other.stop()
	leader.stop()
	select {
	case <-leader.done: // one client leads, and gets the response of the origin
	case <-other.done:
	}
	close(header)
	origin := <-streams
	io.WriteString(origin, "x") // fails if both clients have left before
	if g, h := leader.end(), other.end(); g.err == nil && h.err == nil {
		t.Error("both were answered")
	}
}

// TestInvalidatedWhileArriving: a response invalidated by an unsafe request while it arrives is not stored, and
// no other client joins it.
func TestInvalidatedWhileArriving(t *testing.T) {
	leakless(t)
	s := newSite(t, nil)
	streams := s.streams(3, fresh)
	c := s.start(nil)
	origin := <-streams
	io.WriteString(origin, "ol")
	s.sends(200, "done")
	s.expect(s.do("POST"), 200, "done", false)
	s.sends(200, "new", fresh)
	s.expect(s.get(), 200, "new", false)
	io.WriteString(origin, "d")
	c.whole("old")
	s.expect(s.get(), 200, "new", true)
}

// TestNotShared: a response for one client, or one that must be validated, is not given to the followers.
func TestNotShared(t *testing.T) {
	for _, control := range []string{"private", "no-store", "no-cache", "max-age=0", "max-age=60, no-cache"} {
		leakless(t)
		s := newSite(t, nil)
		header := make(chan struct{})
		s.respond = func(_ context.Context, r sent) (*httpmessage.Response, error) {
			<-header
			return s.response(200, r.header.Get("X-Who"), "Cache-Control: "+control, `ETag: "1"`), nil
		}
		var clients []*client
		names := []string{"a", "b", "c", "d"}
		for _, name := range names {
			clients = append(clients, s.start(nil, "X-Who: "+name))
		}
		s.eventually("all wait", func() bool { return s.cache.Waiting(target) == 4 })
		close(header)
		for i, c := range clients {
			c.whole(names[i])
		}
		if s.count() != 4 {
			t.Errorf("%s: %d requests", control, s.count())
		}
	}
}

// TestEmptyIsStoredFirst: a response without a body is stored before its client gets the head, and may request
// it again.
func TestEmptyIsStoredFirst(t *testing.T) {
	s := newSite(t, nil)
	s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
		response := s.response(200, "", "Cache-Control: max-age=60")
		response.Body = http.NoBody
		return response, nil
	}
	for range 2 {
		a, err := s.cache.Serve(t.Context(),
			&httpcache.Request{Request: httpmessage.Request{Method: http.MethodGet, Fields: fields()}, Key: target},
			httpcache.OriginFunc(s.forward))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Content.Close() // after the next request
	}
	if s.count() != 1 {
		t.Errorf("%d requests", s.count())
	}
}
