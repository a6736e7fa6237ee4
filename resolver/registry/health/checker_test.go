package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// fakeWeb is a transport that responds without a network, in the time of a synctest bubble.
type fakeWeb struct {
	mu       sync.Mutex
	status   map[string]int    // by URL; others are 200
	retry    map[string]string // Retry-After by URL
	moved    map[string]string // Location by URL, for a redirect status
	down     bool              // no server is reachable
	took     time.Duration     // duration of a request
	requests []request
	open     map[string]int // requests in progress by host
	most     int            // maximum of concurrent requests to one host
	mostAll  int
}

type request struct {
	at       time.Time
	url, who string
}

func (w *fakeWeb) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.requests = append(w.requests, request{time.Now(), r.URL.String(), r.UserAgent()})
	status, known := w.status[r.URL.String()]
	if !known {
		status = 200
	}
	header := http.Header{}
	if after, ok := w.retry[r.URL.String()]; ok {
		header.Set("Retry-After", after)
	}
	if to, ok := w.moved[r.URL.String()]; ok {
		header.Set("Location", to)
	}
	down := w.down
	if w.open == nil {
		w.open = make(map[string]int)
	}
	w.open[r.URL.Host]++
	all := 0
	for _, n := range w.open {
		all += n
	}
	w.most, w.mostAll = max(w.most, w.open[r.URL.Host]), max(w.mostAll, all)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.open[r.URL.Host]--
		w.mu.Unlock()
	}()
	select {
	case <-time.After(w.took):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if down {
		return nil, errors.New("network is unreachable")
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: r},
		nil
}

func (w *fakeWeb) set(url string, status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status[url] = status
}

func (w *fakeWeb) take() []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.requests
	w.requests = nil
	return taken
}

func (w *fakeWeb) urls() (urls []string) {
	for _, r := range w.take() {
		urls = append(urls, r.url)
	}
	return urls
}

func newFakeWeb() *fakeWeb {
	return &fakeWeb{status: make(map[string]int), retry: make(map[string]string), took: 10 * time.Millisecond}
}

// world is a registry and its web.
type world struct {
	t        *testing.T
	registry *registry.Registry
	store    registry.Store
	web      *fakeWeb
}

func newWorld(t *testing.T) *world {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	same := func(text string) (string, error) { return text, nil }
	return &world{
		t: t, store: store, web: newFakeWeb(),
		registry: registry.New(registry.Config{Store: store, Canonical: same, CanonicalPrefix: same, Now: time.Now}),
	}
}

func (w *world) put(name string, uris ...string) {
	w.t.Helper()
	var r registry.Record
	for _, uri := range uris {
		r.Targets = append(r.Targets, registry.Target{URI: uri})
	}
	w.edit(registry.Edit{Key: registry.Name(name), IfVersion: registry.AnyVersion, Change: registry.Put(r)})
}

func (w *world) edit(edit registry.Edit) {
	w.t.Helper()
	if _, err := w.registry.Apply(w.t.Context(), registry.Actor{Name: "test", Role: registry.Admin}, edit); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) config(holder string) Config {
	return Config{
		Store: w.store, Transport: w.web, Agent: "test", Interval: 24 * time.Hour, Rate: 100, Concurrency: 8,
		Pause: time.Second, Timeout: 10 * time.Second, Holder: holder, Now: time.Now, After: time.After,
		Failed: func(err error) { w.t.Logf("%s: %v", time.Now(), err) },
	}
}

// run starts a checker, and returns a function that stops it.
func (w *world) run(c Config) (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	running.Go(func() { New(c).Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// kept returns the stored targets as "uri state".
func (w *world) kept() (all []string) {
	w.t.Helper()
	if err := List(w.t.Context(), w.store, "", "", func(t Target) error {
		all = append(all, t.URI+" "+string(t.State))
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	return all
}

func (w *world) sweep() Sweep {
	w.t.Helper()
	s, err := ReadSweep(w.t.Context(), w.store)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// Requests are spread evenly over the interval, and each target is requested once per interval.
func TestSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const n = 70
		for i := range n {
			w.put(fmt.Sprintf("urn:x:%03d", i), fmt.Sprintf("http://a.example/%d", i))
		}
		c := w.config("one")
		c.Interval = 6 * time.Hour
		started := time.Now()
		stop := w.run(c)
		time.Sleep(c.Interval - time.Minute)
		requests := w.web.take()
		if len(requests) != n {
			t.Errorf("%d requests", len(requests))
		}
		for i, r := range requests {
			due := started.Add(c.Interval / n * time.Duration(i))
			if late := r.at.Sub(due); late < -time.Second || late > 3*time.Minute ||
				r.url != fmt.Sprintf("http://a.example/%d", i) {
				t.Errorf("%s is %s late", r.url, late)
			}
		}
		if s := w.sweep(); s.Names != n || s.Outcomes[Alive] != n || s.Lag(time.Now()) > 2*time.Minute ||
			len(w.kept()) != 0 {
			t.Errorf("%+v, kept %v", s, w.kept())
		}
		time.Sleep(c.Interval)
		if again := len(w.web.take()); again < n-1 || again > n+1 {
			t.Errorf("%d requests in the second interval", again)
		}
		stop()
	})
}

// The time of the last check of each target is known, including healthy ones.
func TestLastCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const n = 70
		for i := range n {
			w.put(fmt.Sprintf("urn:x:%03d", i), fmt.Sprintf("http://a.example/%d", i))
		}
		c := w.config("one")
		c.Interval = 6 * time.Hour
		stop := w.run(c)
		time.Sleep(c.Interval + c.Interval/2 + time.Minute) // between two checks
		stop()
		last := make(map[string]time.Time)
		for _, r := range w.web.take() {
			last[r.url] = r.at
		}
		w.put("urn:x:000x", "http://a.example/new")
		err := ListAll(t.Context(), w.store, time.Now(), "urn:x:", func(target Target) error {
			if strings.HasSuffix(target.URI, "new") {
				if target.State != "" || !target.Checked.IsZero() {
					t.Errorf("%+v", target)
				}
				return nil
			}
			if off := target.Checked.Sub(last[target.URI]); target.State != Healthy || off < 0 || off > c.Interval/50 {
				t.Errorf("%s: %s off", target.URI, off)
			}
			delete(last, target.URI)
			return nil
		})
		if err != nil || len(last) != 0 {
			t.Errorf("%v, not listed: %v", err, last)
		}
	})
}

// A target is unhealthy after three failures over at least a day, and healthy after one success. A target
// that no name has any more is deleted.
func TestStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const bad, good = "http://a.example/bad", "http://b.example/good"
		w.put("urn:x:1", bad, good)
		w.web.set(bad, 500)
		avoidance := &UnhealthyCache{Store: w.store, Now: time.Now, After: time.After}
		state := func(want string, unhealthy bool) {
			t.Helper()
			if err := avoidance.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(w.kept(), ", "); got != want {
				t.Errorf("kept %q, want %q", got, want)
			}
			if avoidance.Unhealthy(bad) != unhealthy || avoidance.Unhealthy(good) {
				t.Errorf("unhealthy: %t", avoidance.Unhealthy(bad))
			}
		}
		stop := w.run(w.config("one"))
		defer stop()
		time.Sleep(time.Hour)
		state(bad+" suspect", false)
		time.Sleep(22 * time.Hour)
		state(bad+" suspect", false)
		time.Sleep(4 * time.Hour)
		state(bad+" unhealthy", true)
		w.web.set(bad, 200)
		time.Sleep(14 * time.Hour)
		state(bad+" healthy", false)
		err := List(t.Context(), w.store, "urn:x:1", "", func(target Target) error {
			var history []State
			for _, h := range target.History {
				history = append(history, h.State)
			}
			if !slices.Equal(history, []State{Suspect, Unhealthy, Healthy}) || target.Failures != 0 ||
				target.Name != "urn:x:1" {
				t.Errorf("%+v", target)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if s := w.sweep(); s.States[Healthy] != 1 || s.documents() != 1 {
			t.Errorf("%+v", s.States)
		}
		w.put("urn:x:1", good)
		time.Sleep(25 * time.Hour)
		state("", false)
		if s := w.sweep(); s.documents() != 0 {
			t.Errorf("%+v", s.States)
		}
	})
}

// A permanently moved target is healthy, and is stored as long as the redirect persists.
func TestKeptMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const old, there = "http://a.example/old", "https://a.example/new"
		w.put("urn:x:1", old, "http://b.example/")
		w.web.set(old, 301)
		w.web.moved = map[string]string{old: there}
		moves := func() (found []string) {
			t.Helper()
			if err := List(t.Context(), w.store, "", "", func(target Target) error {
				found = append(found, target.URI+" "+string(target.State)+" "+target.Moved)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return found
		}
		stop := w.run(w.config("one"))
		defer stop()
		for range 3 {
			time.Sleep(25 * time.Hour)
			if found := moves(); len(found) != 1 || found[0] != old+" healthy "+there ||
				w.sweep().States[Healthy] != 1 {
				t.Errorf("%q, %v", found, w.sweep().States)
			}
		}
		w.web.set(old, 200)
		time.Sleep(25 * time.Hour)
		if found := moves(); len(found) != 0 || w.sweep().States[Healthy] != 0 {
			t.Errorf("%q, %v", found, w.sweep().States)
		}
	})
}

// The number of stored moved targets is limited, which leaves room for unhealthy ones.
func TestRoomForMoves(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	err := w.store.Write(t.Context(), func(tx registry.WriteTx) error {
		s := Sweep{States: map[State]int64{Healthy: maxMoved - 1}}
		for i := range 3 {
			c := checkResult{
				job{name: "urn:x:1", uri: fmt.Sprint("http://a.example/", i)},
				Result{Outcome: Alive, Moved: "https://a.example/"},
			}
			if err := record(tx, &s, []checkResult{c}, now); err != nil {
				return err
			}
		}
		if s.States[Healthy] != maxMoved {
			t.Errorf("%d are kept", s.States[Healthy])
		}
		return nil
	})
	if err != nil || len(w.kept()) != 1 {
		t.Errorf("%v, %q", err, w.kept())
	}
}

// Only currently valid targets of active names are requested, each once.
func TestWhichTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		now := time.Now()
		w.edit(registry.Edit{
			Key: registry.Name("urn:x:1"), IfVersion: registry.AnyVersion,
			Change: registry.Put(registry.Record{Targets: []registry.Target{
				{URI: "http://a.example/past", Until: now.Add(-time.Hour)},
				{URI: "http://a.example/now", From: now.Add(-time.Hour), Until: now.Add(99 * time.Hour)},
				{URI: "http://a.example/future", From: now.Add(99 * time.Hour)},
				{URI: "ftp://a.example/"},
			}}),
		})
		w.put("urn:x:2", "http://a.example/now")
		w.put("urn:x:3", "http://a.example/withdrawn")
		w.edit(registry.Edit{
			Key: registry.Name("urn:x:3"), IfVersion: registry.AnyVersion,
			Change: registry.Withdraw("gone"),
		})
		w.edit(registry.Edit{
			Key: registry.Name("urn:x:4"), IfVersion: registry.AnyVersion,
			Change: registry.Put(registry.Record{Alias: "urn:x:1"}),
		})
		w.edit(registry.Edit{
			Key: registry.Prefix("urn:x:5:"), IfVersion: registry.AnyVersion,
			Change: registry.Put(registry.Record{Targets: []registry.Target{{URI: "http://a.example/prefix/"}}}),
		})
		var found []string
		err := New(w.config("one")).Check(t.Context(), "urn:x:", func(target Target) error {
			found = append(found, target.Name+" "+target.URI+" "+string(target.State)+" "+string(target.Outcome))
			return nil
		})
		want := []string{
			"urn:x:1 http://a.example/now healthy alive", "urn:x:1 ftp://a.example/  unchecked",
			"urn:x:2 http://a.example/now healthy alive",
		}
		if got := w.web.urls(); err != nil || !slices.Equal(found, want) ||
			!slices.Equal(got, []string{"http://a.example/now"}) {
			t.Errorf("%v, found %q, asked %q", err, found, got)
		}
	})
}

// There is one request at a time per host, followed by a pause, and the overall rate is limited.
func TestPolite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.web.took = 300 * time.Millisecond
		for i := range 40 {
			w.put(fmt.Sprintf("urn:x:%03d", i), fmt.Sprintf("http://host%d.example/%d", i%4, i))
		}
		c := w.config("one")
		c.Concurrency, c.Rate = 3, 2
		if err := New(c).Check(t.Context(), "", func(Target) error { return nil }); err != nil {
			t.Fatal(err)
		}
		last := make(map[string]time.Time)
		var before time.Time
		requests := w.web.take()
		for _, r := range requests {
			host, _, _ := strings.Cut(strings.TrimPrefix(r.url, "http://"), "/")
			if gap := r.at.Sub(last[host]); gap < c.Pause+w.web.took {
				t.Errorf("%s after %s", r.url, gap)
			}
			if gap := r.at.Sub(before); gap < time.Second/2 {
				t.Errorf("%s %s after the last request", r.url, gap)
			}
			last[host], before = r.at, r.at
		}
		if len(requests) != 40 || w.web.most != 1 || w.web.mostAll > 3 {
			t.Errorf("%d requests, %d at once to a host, %d in all", len(requests), w.web.most, w.web.mostAll)
		}
	})
}

// Retry-After is respected, and postponed targets are checked later.
func TestRetryAfterIsHonoured(t *testing.T) {
	for _, c := range []struct {
		status int
		retry  string
		alone  time.Duration
	}{
		{429, "600", 10 * time.Minute},
		{429, "", usualRetry},
		{503, "1800", 30 * time.Minute},
		{503, "86400", maxRetry},
	} {
		t.Run(strconv.Itoa(c.status)+" "+c.retry, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				const busy = "http://a.example/busy"
				w.web.set(busy, c.status)
				w.web.retry[busy] = c.retry
				w.put("urn:x:1", busy, "http://a.example/2", "http://b.example/3")
				w.put("urn:x:2", "http://a.example/4")
				config := w.config("one")
				stop := w.run(config)
				time.Sleep(time.Second * 5)
				w.web.mu.Lock()
				delete(w.web.retry, busy)
				w.web.mu.Unlock()
				w.web.set(busy, 200)
				time.Sleep(3 * time.Hour)
				stop()
				var first time.Time
				var after []string
				for _, r := range w.web.take() {
					switch {
					case strings.Contains(r.url, "b.example"):
					case first.IsZero():
						first = r.at
					default:
						if gap := r.at.Sub(first); gap < c.alone {
							t.Errorf("%s after %s", r.url, gap)
						}
						after = append(after, r.url)
					}
				}
				slices.Sort(after)
				if !slices.Contains(after, "http://a.example/2") || c.status == 429 && !slices.Contains(after, busy) {
					t.Errorf("asked later: %q", after)
				}
			})
		})
	}
}

// If no server is reachable, no target is marked as failing.
func TestOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for i := range 100 {
			w.put(fmt.Sprintf("urn:x:%03d", i), fmt.Sprintf("http://host%d.example/", i))
		}
		c := w.config("one")
		var failed []error
		c.Failed = func(err error) { failed = append(failed, err) }
		stop := w.run(c)
		time.Sleep(10 * time.Hour)
		before := w.sweep()
		w.web.mu.Lock()
		w.web.down = true
		w.web.mu.Unlock()
		time.Sleep(12 * time.Hour)
		if s := w.sweep(); len(w.kept()) != 0 || s.Position != before.Position || s.Lag(time.Now()) < 10*time.Hour {
			t.Errorf("kept %q, at %s, %s late", w.kept(), s.Position, s.Lag(time.Now()))
		}
		w.web.mu.Lock()
		w.web.down = false
		w.web.mu.Unlock()
		time.Sleep(time.Hour)
		stop()
		if s := w.sweep(); len(w.kept()) != 0 || s.Lag(time.Now()) > time.Hour || len(failed) == 0 ||
			!errors.Is(failed[0], errOffline) {
			t.Errorf("kept %q, %s late, failed %d", w.kept(), s.Lag(time.Now()), len(failed))
		}
	})
}

// Only one of two checkers is active; the other one continues where the first one stopped.
func TestTwoCheckers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const n = 100
		for i := range n {
			w.put(fmt.Sprintf("urn:x:%03d", i), fmt.Sprintf("http://a.example/%d", i))
		}
		a, b := w.config("a"), w.config("b")
		a.Interval, b.Interval = 6*time.Hour, 6*time.Hour
		a.Agent, b.Agent = "a", "b"
		stopA := w.run(a)
		time.Sleep(time.Second)
		stopB := w.run(b)
		time.Sleep(a.Interval / 2)
		stopA()
		time.Sleep(a.Interval/2 - time.Minute)
		stopB()
		requested, by := make(map[string]int), make(map[string]int)
		for _, r := range w.web.take() {
			requested[r.url]++
			by[r.who]++
		}
		if len(requested) != n || by["a"]+by["b"] > n+2 || by["a"] < n/2-2 || by["b"] < n/2-2 {
			t.Errorf("%d targets, by %v", len(requested), by)
		}
	})
}
