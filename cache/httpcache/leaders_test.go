package httpcache_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// The leader of a collapsed exchange shares its response, but never an error, its delay or its pace. These
// tests use only what clients and the origin observe, and when.

// first makes the origin answer its first request in one way, and all others in another.
func (s *site) first(first, others func(ctx context.Context) (*httpmessage.Response, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	s.respond = func(ctx context.Context, _ sent) (*httpmessage.Response, error) {
		s.mu.Lock()
		n++
		isFirst := n == 1
		s.mu.Unlock()
		if isFirst {
			return first(ctx)
		}
		return others(ctx)
	}
}

// later answers after a delay.
func (s *site) later(
	after time.Duration, body string, lines ...string,
) func(context.Context) (*httpmessage.Response, error) {
	return func(ctx context.Context) (*httpmessage.Response, error) {
		select {
		case <-time.After(after):
			return s.response(200, body, lines...), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// hangs never answers.
func hangs(ctx context.Context) (*httpmessage.Response, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// victims starts clients that follow the leader, and returns how long each of them took.
func (s *site) victims(n int, lines ...string) []*client {
	synctest.Wait()
	victims := make([]*client, n)
	for i := range victims {
		victims[i] = s.start(nil, lines...)
	}
	synctest.Wait()
	return victims
}

const timeout = 5 * time.Second

func TestLeaders(t *testing.T) {
	tests := []struct {
		name      string
		leader    []string // the fields of the leader
		victim    []string // the fields of the followers
		origin    func(s *site)
		leaves    bool          // the leader leaves after a second
		within    time.Duration // all followers have the answer "ok" within this time
		requested int           // maximum number of requests at the origin, including the leader's
	}{
		{
			name:   "an answer",
			origin: func(s *site) { s.first(s.later(time.Second, "ok", fresh), hangs) },
			within: time.Second, requested: 1,
		},
		{
			name: "an error is not shared",
			origin: func(s *site) {
				s.first(func(context.Context) (*httpmessage.Response, error) { return nil, errOrigin },
					s.later(time.Second, "ok", fresh))
			},
			within: time.Second, requested: 17,
		},
		{
			name:   "who leads leaves",
			origin: func(s *site) { s.first(hangs, s.later(time.Second, "ok", fresh)) },
			leaves: true, within: 2 * time.Second, requested: 17,
		},
		{
			name: "what is for one client is not shared",
			origin: func(s *site) {
				s.first(s.later(time.Second, "mine", "Cache-Control: private"), s.later(time.Second, "ok", fresh))
			},
			within: 2 * time.Second, requested: 17,
		},
		{
			name:   "who leads hangs: one second leader",
			origin: func(s *site) { s.first(hangs, s.later(time.Second, "ok", fresh)) },
			within: timeout + time.Second, requested: 2,
		},
		{
			name:   "a lock of the session of who leads",
			leader: []string{"Cookie: session=attacker"},
			origin: func(s *site) { s.first(hangs, s.later(time.Second, "ok", fresh)) },
			within: time.Second, requested: 2,
		},
		{
			name: "others with sessions", leader: []string{"Cookie: session=attacker"},
			victim: []string{"Cookie: session=victim"},
			origin: func(s *site) { s.first(hangs, s.later(0, "ok", "Cache-Control: private")) },
			within: timeout, requested: 101,
		},
		{
			name: "an unknown field", leader: []string{"X-Sleep: 60"},
			origin: func(s *site) { s.first(hangs, s.later(time.Second, "ok", fresh)) },
			within: time.Second, requested: 2,
		},
		{
			name: "a small body that stops half way",
			origin: func(s *site) {
				s.first(func(context.Context) (*httpmessage.Response, error) {
					r, w := io.Pipe()
					go func() { _, _ = io.WriteString(w, "o") }()
					time.AfterFunc(time.Minute, func() { w.CloseWithError(errOrigin) })
					response := s.response(200, "", fresh)
					response.Body, response.ContentLength = r, 2
					return response, nil
				}, s.later(time.Second, "ok", fresh))
			},
			within: timeout + time.Second, requested: 2,
		},
		{
			name: "a body without an end",
			origin: func(s *site) {
				s.first(func(ctx context.Context) (*httpmessage.Response, error) {
					r, w := io.Pipe()
					context.AfterFunc(ctx, func() { w.CloseWithError(context.Cause(ctx)) })
					response := s.response(200, "", fresh)
					response.Body, response.ContentLength = r, -1
					return response, nil
				}, s.later(time.Second, "ok", fresh))
			},
			within: timeout + time.Second, requested: 2,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, func(c *httpcache.Config) { c.Now = time.Now })
				test.origin(s)
				leader := s.start(nil, test.leader...)
				victims := s.victims(100, test.victim...)
				if test.leaves {
					time.Sleep(time.Second) // in the time of the bubble
					leader.stop()
				}
				time.Sleep(test.within + time.Millisecond - map[bool]time.Duration{true: time.Second}[test.leaves])
				synctest.Wait()
				for i, victim := range victims {
					select {
					case <-victim.done:
						if g := victim.end(); g.err != nil || g.body != "ok" {
							t.Fatalf("victim %d: %v, %q", i, g.err, g.body)
						}
					default:
						t.Fatalf("victim %d has no answer after %v; the origin has seen %d requests", i, test.within,
							s.count())
					}
				}
				if n := s.count(); n > test.requested {
					t.Errorf("the origin has seen %d requests, more than %d", n, test.requested)
				}
				leader.stop()
				<-leader.done
			})
		})
	}
}

// A leader that has half-closed its connection may have left: no client waits for it, but it is answered.
func TestEndedLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(c *httpcache.Config) { c.Now = time.Now })
		s.first(s.later(time.Minute, "late", fresh), s.later(time.Second, "ok", fresh))
		ended, end := context.WithCancel(t.Context())
		leader := make(chan got)
		go func() {
			r := &httpcache.Request{
				Request: httpmessage.Request{Method: "GET", Fields: fields()}, Key: target,
				ClientHalfClosed: ended,
			}
			leader <- s.request(r) //nolint:contextcheck // the context is that of the connection
		}()
		victims := s.victims(10)
		end()
		started := time.Now()
		for _, victim := range victims {
			victim.whole("ok")
		}
		if took := time.Since(started); took > time.Second {
			t.Errorf("they waited %v", took)
		}
		s.expect(<-leader, 200, "late", false)
	})
}

// A leader that leaves in the middle of a small body, which the origin then stalls, does not delay the clients
// that wait for its end.
func TestLeaderLeavesBody(t *testing.T) {
	for name, leaves := range map[string]func(stop, end func()){
		"it is gone": func(stop, _ func()) { stop() },
		"it has ended its side of the connection": func(_, end func()) { end() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, func(c *httpcache.Config) { c.Now = time.Now })
				streams := s.streams(10, fresh)
				ctx, stop := context.WithCancel(t.Context())
				ended, end := context.WithCancel(t.Context())
				r := &httpcache.Request{
					Request: httpmessage.Request{Method: "GET", Fields: fields()}, Key: target,
					ClientHalfClosed: ended,
				}
				a, err := s.cache.Serve(ctx, r, httpcache.OriginFunc(s.forward))
				if err != nil {
					t.Fatal(err)
				}
				first := <-streams
				go func() { _ = a.Content.SendTo(io.Discard, func() {}); a.Content.Close() }()
				io.WriteString(first, "01234")
				victims := s.victims(10)
				started := time.Now()
				leaves(stop, end)
				go func() {
					for origin := range streams {
						io.WriteString(origin, "0123456789")
						origin.Close()
					}
				}()
				for _, victim := range victims {
					victim.whole("0123456789")
				}
				if took := time.Since(started); took > 0 {
					t.Errorf("they waited %v", took)
				}
				first.CloseWithError(errOrigin)
				close(streams)
				stop()
				end()
			})
		})
	}
}

// A slow origin is not stampeded by clients that waited in vain, and no client takes all slots of the limit.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(c *httpcache.Config) { c.CollapseLimit, c.Now = 8, time.Now })
		atOnce, most := 0, 0
		slow := func(ctx context.Context) (*httpmessage.Response, error) {
			s.mu.Lock()
			atOnce++
			most = max(most, atOnce)
			s.mu.Unlock()
			defer func() { s.mu.Lock(); atOnce--; s.mu.Unlock() }()
			return s.later(time.Second, "", "Cache-Control: no-store")(ctx)
		}
		s.first(func(context.Context) (*httpmessage.Response, error) { time.Sleep(time.Second); return nil, errOrigin },
			slow)
		ask := func(client byte) <-chan time.Duration {
			took, started := make(chan time.Duration, 1), time.Now()
			go func() {
				r := &httpcache.Request{
					Request: httpmessage.Request{Method: "GET", Fields: fields()}, Key: target,
					Client: netip.AddrFrom4([4]byte{127, 0, 0, client}),
				}
				if a, err := s.cache.Serve(t.Context(), r, httpcache.OriginFunc(s.forward)); err == nil &&
					a.Content != nil {
					a.Content.Close()
				}
				took <- time.Since(started)
			}()
			synctest.Wait()
			return took
		}
		leader := ask(1)
		var attackers []<-chan time.Duration
		for range 40 {
			attackers = append(attackers, ask(1))
		}
		victim := ask(2)
		if took := <-victim; took > 2*time.Second {
			t.Errorf("a victim took %v", took)
		}
		<-leader
		for _, attacker := range attackers {
			<-attacker
		}
		if most > 3 { // a quarter of 8 for the attacker, and one for the victim
			t.Errorf("the origin has seen %d requests at a time", most)
		}
	})
}

// A client whose exchange hangs occupies a slot of the limit no longer than the followers wait.
func TestTurnsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(c *httpcache.Config) { c.CollapseLimit, c.Now = 4, time.Now })
		s.first(hangs, hangs)
		attackers := append([]*client{s.start(nil)}, s.victims(5)...)
		time.Sleep(2*timeout + time.Millisecond) // in the time of the bubble: one second leader, then slots
		s.first(s.later(0, "", "Cache-Control: private"), s.later(0, "ok", fresh))
		time.Sleep(2 * timeout)
		synctest.Wait()
		answered := 0
		for _, one := range attackers {
			select {
			case <-one.done:
				answered++
			default:
			}
		}
		if answered == 0 {
			t.Error("no request has become the leader")
		}
		for _, one := range attackers {
			one.stop()
			<-one.done
		}
	})
}

// A usable stale response is used while another client validates it, but not against must-revalidate, no-cache
// or the directives of the client: RFC 9111 section 4.2.4.
func TestStaleWhileWaiting(t *testing.T) {
	tests := []struct {
		stored, asks string
		stale        bool
	}{
		{"max-age=10", "", true},
		{"max-age=10, must-revalidate", "", false},
		{"max-age=10, proxy-revalidate", "", false},
		{"s-maxage=10", "", false},
		{"no-cache", "", false},
		{"max-age=10, stale-if-error=0", "", false},
		{"max-age=10", "Cache-Control: max-age=5", false},
		{"max-age=10", "Cache-Control: no-cache", false},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.stored, " ", test.asks), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, nil)
				s.sends(200, "old", "Cache-Control: "+test.stored, `ETag: "1"`)
				s.expect(s.get(), 200, "old", false)
				s.clock.advance(time.Minute)
				s.first(s.later(time.Second, "new", fresh), s.later(time.Second, "new", fresh))
				leader := s.start(nil)
				synctest.Wait()
				started := time.Now()
				var lines []string
				if test.asks != "" {
					lines = append(lines, test.asks)
				}
				g := s.get(lines...)
				if stale := time.Since(started) == 0 && g.body == "old"; g.err != nil || stale != test.stale {
					t.Errorf("%v %q after %v; stale is allowed: %t", g.err, g.body, time.Since(started), test.stale)
				}
				leader.whole("new")
			})
		})
	}
}

// Requests that select different responses do not wait for each other, as far as Vary is known.
func TestClassesByVary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		s.sends(200, "any", "Cache-Control: max-age=10", "Vary: Accept")
		s.expect(s.get("Accept: text/html"), 200, "any", false)
		s.clock.advance(2 * time.Hour) // longer than Config.StaleFor
		s.first(hangs, s.later(time.Second, "ok", fresh, "Vary: Accept"))
		leader := s.start(nil, "Accept: attack/attack")
		started := time.Now()
		for _, victim := range s.victims(10, "Accept: text/html") {
			victim.whole("ok")
		}
		if took := time.Since(started); took > time.Second {
			t.Errorf("they waited %v", took)
		}
		leader.stop()
		if g := leader.end(); !errors.Is(g.err, context.Canceled) {
			t.Errorf("%v", g.err)
		}
	})
}
