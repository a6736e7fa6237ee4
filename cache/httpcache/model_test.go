package httpcache_test

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
)

// TestModel: hundreds of clients with some names, any of which may leave at any time, and an origin that may
// fail at any time and in every way. A client that gets a complete answer gets a version of the right name,
// with the length and the checksum that the origin sent.
func TestModel(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	t.Run("memory", func(t *testing.T) { playModel(t, nil) })
	t.Run("disk", func(t *testing.T) {
		store, closes := newDisk(t, t.TempDir())
		t.Cleanup(closes)
		playModel(t, func(c *httpcache.Config) { c.Disk = store })
	})
}

func playModel(t *testing.T, change func(*httpcache.Config)) {
	leakless(t)
	const clients, names = 200, 4
	rounds := 2
	if testserver.Long() {
		rounds = 6
	}
	s := newSite(t, func(c *httpcache.Config) {
		c.MaxObject, c.MaxArriving = 300<<10, 1<<20
		if change != nil {
			change(c)
		}
	})
	o := &model{}
	var whole, broken atomic.Int64
	var clientsDone sync.WaitGroup
	for i := range clients {
		clientsDone.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range rounds {
				ctx, stop := context.WithCancel(t.Context())
				name := random.IntN(names)
				s.clock.advance(time.Duration(random.Int64N(int64(time.Second / 5)))) // so that responses become stale
				if o.ask(t, ctx, stop, s, random, name) {
					whole.Add(1)
				} else {
					broken.Add(1)
				}
				stop()
			}
		})
	}
	clientsDone.Wait()
	t.Logf("%d whole, %d broken, %d requests to the origin, %+v", whole.Load(), broken.Load(), o.requests.Load(),
		s.cache.Stats())
	if whole.Load() < int64(clients*rounds/4) {
		t.Error("too few whole answers")
	}
	if s.cache.Stats().Hits == 0 {
		t.Error("nothing stored was used")
	}
	for name := range names {
		s.eventually("all exchanges end", func() bool { return s.cache.Flights(nameOf(name)) == 0 })
	}
	if n := s.cache.Arriving(); n != 0 {
		t.Errorf("%d bytes of memory are still taken", n)
	}
}

// controls are the Cache-Control values of the origin, mostly the last one.
var controls = [...]string{"max-age=0", "private", "no-cache", "max-age=1, stale-if-error=60", "max-age=60"}

// model is the origin.
type model struct{ requests atomic.Int64 }

func nameOf(name int) string { return fmt.Sprintf("http://a.example/%d", name) }

// version returns a body of a name. Some are too large to be stored.
func version(name int, number uint64) (body, etag string) {
	random := rand.New(rand.NewPCG(uint64(name), number))
	n := random.IntN(64 << 10)
	if name == 0 {
		n = 1200<<10 + random.IntN(64<<10)
	}
	body = strings.Repeat(fmt.Sprintf("%d/%d,%x;", name, number, random.Uint64()), n/16+1)[:n]
	return body, fmt.Sprintf(`"%d-%d-%08x-%d"`, name, number, crc32.ChecksumIEEE([]byte(body)), n)
}

// ask sends a request of a client. It reports whether the answer was complete.
func (o *model) ask(t *testing.T, ctx context.Context, stop func(), s *site, random *rand.Rand, name int) bool {
	var lines []string
	switch random.IntN(8) {
	case 0:
		lines = append(lines, "Cache-Control: max-age=0")
	case 1:
		lines = append(lines, "Cache-Control: no-cache")
	}
	from, to := random.IntN(1000), 1000+random.IntN(60000)
	ranged := random.IntN(4) == 0
	if ranged {
		lines = append(lines, fmt.Sprintf("Range: bytes=%d-%d", from, to))
	}
	method := "GET"
	if random.IntN(40) == 0 {
		method = "POST"
	}
	if len(lines) == 0 && method == "GET" {
		checkFound(t, ctx, s, name)
	}
	a, err := s.cache.Serve(ctx,
		&httpcache.Request{Request: httpmessage.Request{Method: method, Fields: fields(lines...)}, Key: nameOf(name)},
		o.forward(s, name, random.Uint64()))
	if err != nil {
		return false
	}
	g := got{Response: a}
	if a.Content == nil {
		return true
	}
	defer a.Content.Close()
	w := &leaver{stop: stop, after: -1}
	if random.IntN(4) == 0 {
		w.after = random.IntN(1 << 16)
	}
	if err := a.Content.SendTo(w, func() {}); err != nil {
		return false
	}
	body := string(w.body)
	var version, size, ofName int
	var sum uint32
	if _, err := fmt.Sscanf(g.field("Etag"), `"%d-%d-%08x-%d"`, &ofName, &version, &sum, &size); err != nil {
		t.Errorf("%d, ETag %q: %v", a.Status, g.field("Etag"), err)
		return false
	}
	all, _ := versionOf(name, version)
	if a.Status == 206 {
		all = all[from:min(to+1, size)]
	}
	if ofName != name || body != all {
		t.Errorf("%d of %d, ETag %s: %d bytes of %d", a.Status, name, g.field("Etag"), len(body), len(all))
	}
	return true
}

// checkFound checks that the response found for a name is a complete version of it.
func checkFound(t *testing.T, ctx context.Context, s *site, name int) {
	r, ok := s.cache.Find(nameOf(name), "", nil, s.clock.now())
	if !ok {
		return
	}
	content, ok := r.Open(ctx)
	if !ok { // another client has replaced the response on disk
		if _, inMemory := r.Blocks(); inMemory {
			t.Error("the content is lost")
		}
		return
	}
	defer content.Close()
	var b strings.Builder
	if err := content.SendTo(&b, nil); err != nil {
		t.Error(err)
	}
	etag := r.AppendFields(nil, httpcache.Part{}, false).Get("Etag")
	var ofName, number, size int
	var sum uint32
	if _, err := fmt.Sscanf(etag, `"%d-%d-%08x-%d"`, &ofName, &number, &sum, &size); err != nil {
		t.Errorf("ETag %q: %v", etag, err)
	}
	if body, _ := versionOf(name, number); ofName != name || b.String() != body || r.Length() != int64(size) {
		t.Errorf("found for %d: ETag %s, %d bytes of %d", name, etag, b.Len(), len(body))
	}
}

func versionOf(name, number int) (body, etag string) { return version(name, uint64(number)) }

// leaver is a client that may leave after some bytes.
type leaver struct {
	body  []byte
	after int // -1 for never
	stop  func()
}

func (w *leaver) Write(p []byte) (int, error) {
	w.body = append(w.body, p...)
	if w.after >= 0 && len(w.body) > w.after {
		w.stop()
	}
	return len(p), nil
}

// forward returns the origin for one request, whose response is determined by seed.
func (o *model) forward(s *site, name int, seed uint64) httpcache.OriginFunc {
	return func(ctx context.Context, _ httpcache.Outgoing) (*httpmessage.Response, error) {
		o.requests.Add(1)
		random := rand.New(rand.NewPCG(seed, 2))
		if random.IntN(20) == 0 {
			return nil, errOrigin
		}
		body, etag := version(name, random.Uint64N(4))
		lines := []string{"Etag: " + etag, "Cache-Control: " + controls[min(random.IntN(40), len(controls)-1)]}
		response := s.response(200, body, lines...)
		reader := &failing{ctx: ctx, rest: body, random: random, left: -1}
		if random.IntN(6) == 0 {
			reader.left = random.IntN(len(body) + 1)
		}
		if random.IntN(3) == 0 {
			response.ContentLength = -1
		}
		response.Body = reader
		return response, nil
	}
}

// failing is a body that arrives in pieces, and may fail after some bytes.
type failing struct {
	ctx    context.Context
	rest   string
	random *rand.Rand
	left   int // -1 for all
}

func (f *failing) Read(p []byte) (int, error) {
	runtime.Gosched()
	if err := context.Cause(f.ctx); err != nil {
		return 0, err
	}
	if f.left == 0 {
		return 0, errOrigin
	}
	if f.rest == "" {
		return 0, io.EOF
	}
	n := min(1+f.random.IntN(30000), len(f.rest), len(p))
	if f.left > 0 {
		n = min(n, f.left)
		f.left -= n
	}
	copy(p, f.rest[:n])
	f.rest = f.rest[n:]
	return n, nil
}

func (*failing) Close() error { return nil }
