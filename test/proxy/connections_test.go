//go:build e2e

package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// startBooks starts urnd with the namespace book.
func startBooks(t *testing.T, change func(*config.Config)) *urndtest.Daemon {
	t.Helper()
	c := urndtest.Default(noDNS)
	c.Namespaces = []config.Namespace{book("a")}
	change(&c)
	return urndtest.StartConfig(t, c)
}

// bookRequest requests a name that is cached after the first request.
const bookRequest = "GET /urn:book:1 HTTP/1.1\r\nHost: localhost\r\n\r\n"

// TestSlowReaders checks that clients that send requests and read nothing are disconnected within
// limits.write_timeout. They do not block other clients, and urnd does not buffer unread responses.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	const readers = 3
	d := startBooks(t, func(c *config.Config) { c.Limits.WriteTimeout = time.Second })
	address := at(d.URL)
	collectGarbage(t, d)
	before := scraped(t, d, "go_memstats_heap_inuse_bytes")
	batch := []byte(strings.Repeat(bookRequest, 16))
	var connected atomic.Int64
	connected.Store(readers)
	start := time.Now()
	for range readers {
		conn := dialUnread(t, address)
		go func() {
			for {
				if _, err := conn.Write(batch); err != nil {
					break
				}
			}
			connected.Add(-1)
		}()
	}
	other := dialUnread(t, address)
	in := bufio.NewReader(other)
	heap := before
	var slowest time.Duration
	answers := 0
	testserver.Wait(t, "all slow readers are disconnected", func() bool {
		began := time.Now()
		_, _ = io.WriteString(other, bookRequest)
		if response, err := http.ReadResponse(in, nil); err != nil || response.StatusCode != http.StatusFound {
			t.Fatalf("%+v, %v", response, err)
		} else if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		slowest = max(slowest, time.Since(began))
		answers++
		heap = max(heap, scraped(t, d, "go_memstats_heap_inuse_bytes"))
		return connected.Load() == 0
	})
	took, grown := time.Since(start), int(heap-before)
	if grown > 64<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	t.Logf("%d slow readers were disconnected within %v (limits.write_timeout: 1s), the heap grew by %d MiB; %d "+
		"answers to another client, the slowest after %v",
		readers, took.Round(time.Millisecond), grown>>20, answers, slowest.Round(time.Microsecond))
}

// TestClosedConnections checks that requests sent before a client half-closes are answered, and that a reset
// leaves no state.
func TestClosedConnections(t *testing.T) {
	t.Parallel()
	d := startBooks(t, keep)
	address := at(d.URL)
	d.Get(t, "/urn:book:1")
	goroutines := scraped(t, d, "go_goroutines")
	const connections, requests = 500, 3
	for range connections {
		half, reset := dialUnread(t, address).(*net.TCPConn), dialUnread(t, address).(*net.TCPConn)
		_, _ = io.WriteString(half, strings.Repeat(bookRequest, requests))
		_ = half.CloseWrite()
		_, _ = io.WriteString(reset, strings.Repeat(bookRequest, requests))
		_ = reset.SetLinger(0)
		_ = reset.Close()
		in := bufio.NewReader(half)
		for range requests {
			response, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusFound {
				t.Fatal(response.Status, err)
			}
		}
		if _, err := in.ReadByte(); err != io.EOF {
			t.Fatal(err)
		}
		half.Close()
	}
	testserver.Wait(t, "all connections have ended", func() bool {
		return scraped(t, d, `urnd_limit_used\{limit="connections"\}`) == 0 &&
			scraped(t, d, "go_goroutines") <= goroutines
	})
}

// TestReloadUnderLoad checks that each request during a reload is answered, and that requests after the log
// record of the reload use the new configuration.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	const reloads = 30
	named := func(n int64) func(*config.Config) {
		return func(c *config.Config) { c.Namespaces = []config.Namespace{book(fmt.Sprintf("h%d", n))} }
	}
	d := startBooks(t, named(0))
	var inForce, answers atomic.Int64
	var ended atomic.Bool
	var clients sync.WaitGroup
	defer clients.Wait()
	defer ended.Store(true)
	for range 16 {
		conn := dialUnread(t, at(d.URL))
		clients.Go(func() {
			for in := bufio.NewReader(conn); !ended.Load(); answers.Add(1) {
				want := inForce.Load()
				_, _ = io.WriteString(conn, bookRequest)
				response, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Errorf("after %d answers: %v", answers.Load(), err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				var got int64
				location := response.Header.Get("Location")
				if _, err := fmt.Sscanf(location, "https://h%d.example/1", &got); err != nil || got < want ||
					got > want+reloads {
					t.Errorf("%q by configuration %d", location, want)
					return
				}
			}
		})
	}
	for n := range int64(reloads) {
		before := answers.Load()
		testserver.Wait(t, "requests are answered", func() bool { return answers.Load() > before+100 || t.Failed() })
		if !reload(t, d, named(n+1)) {
			t.Fatal("refused")
		}
		inForce.Store(n + 1)
	}
	t.Logf("%d requests during %d reloads, none failed", answers.Load(), reloads)
}

// pipeliningClients send batches of requests on their connections until they are asked to close them.
type pipeliningClients struct {
	answered atomic.Int64
	failures chan error // a truncated response, or lost requests
	running  sync.WaitGroup
}

// use sends requests on a connection, and returns nil if urnd has asked to close it.
func (p *pipeliningClients) use(conn net.Conn) error {
	const dozen = 12
	batch := strings.Repeat(bookRequest, dozen)
	for in := bufio.NewReader(conn); ; {
		if _, err := io.WriteString(conn, batch); err != nil {
			return err
		}
		for i := range dozen {
			response, err := http.ReadResponse(in, nil)
			if err != nil {
				return fmt.Errorf("response %d of a dozen: %w", i, err)
			}
			if _, err := io.Copy(io.Discard, response.Body); err != nil {
				return err
			}
			p.answered.Add(1)
			if response.Close {
				if rest, _ := io.ReadAll(in); len(rest) > 0 {
					return fmt.Errorf("%d bytes behind the last response", len(rest))
				}
				return nil
			}
		}
	}
}

// TestStopUnderPipelining checks that SIGTERM under load truncates no response, and loses no request on a
// connection that urnd has not asked to close.
func TestStopUnderPipelining(t *testing.T) {
	t.Parallel()
	d := startBooks(t, func(c *config.Config) { c.Listen.Admin = "" })
	const clients = 64
	p := &pipeliningClients{failures: make(chan error, clients)}
	for range clients {
		conn := dialUnread(t, at(d.URL))
		p.running.Go(func() { p.failures <- p.use(conn) })
	}
	testserver.Wait(t, "requests are answered", func() bool { return p.answered.Load() > 10_000 })
	began := time.Now()
	d.Stop()
	p.running.Wait()
	close(p.failures)
	var all []error
	for err := range p.failures {
		all = append(all, err)
	}
	if err := errors.Join(all...); err != nil {
		t.Error(err)
	}
	t.Logf("%d requests of %d clients, stopped within %v", p.answered.Load(), clients,
		time.Since(began).Round(time.Millisecond))
}
