package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/daemon"
	"github.com/urnd/urnd/internal/redact"
)

// testDaemon is an urnd that runs like "urnd serve", in this process.
type testDaemon struct {
	testService
	config  config.Config
	admin   string // its URL
	next    atomic.Pointer[func() (config.Config, error)]
	hangups chan os.Signal
	stop    func() // stops it, and returns when its log is complete
}

// startDaemon runs urnd with a DNS server of the test, until stop or the end of the test. Its clock is ahead
// of those of other tests by ahead.
func startDaemon(t *testing.T, dns string, ahead time.Duration, change func(*config.Config)) *testDaemon {
	t.Helper()
	w := &testDaemon{config: config.Default(), hangups: make(chan os.Signal)}
	c := &w.config
	c.Listen = config.Listen{Service: []string{"127.0.0.1:0"}, Admin: "127.0.0.1:0", HTTP2: true}
	c.DNS.Servers = []config.Server{{AddrPort: netip.MustParseAddrPort(dns)}}
	c.DNS.Timeout, c.DNS.Rounds = time.Second, 1
	c.DDDS.Roots = []string{"urn.example.org."}
	c.Cache.Answers, c.Cache.Records = 1<<20, 1<<20
	c.Log.Format = "json"
	if change != nil {
		change(c)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	w.setLoad(func() (config.Config, error) { return w.config, nil })
	w.clock.advance(ahead)
	w.log.next = t.Output()
	stderr, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan [2]string, 1)
	var logging sync.WaitGroup
	logging.Go(func() { w.listen(stderr, ready) })
	s := newDependencies()
	s.now, s.health, s.stderr = w.clock.now, daemon.NewHealth(w.clock.now, redact.URLs), out
	s.queried = s.health.RecordQuery
	w.metrics = s.metrics
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		read := func() (config.Config, error) { return (*w.next.Load())() }
		ended <- newDaemon(s, "", read, nil).Run(ctx, w.hangups) //nolint:contextcheck // the daemon outlives it
		out.Close()
	}()
	w.stop = sync.OnceFunc(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		logging.Wait()
	})
	select {
	case at := <-ready:
		w.url, w.admin = "http://"+at[0], "http://"+at[1]
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(w.stop)
	return w
}

// listen copies the log, and sends the addresses when urnd is ready.
func (w *testDaemon) listen(stderr *os.File, ready chan<- [2]string) {
	defer stderr.Close()
	for lines := bufio.NewReader(stderr); ; {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(&w.log, line)
		var reported struct{ Msg, Service, Admin string }
		if json.Unmarshal([]byte(line), &reported) == nil && reported.Msg == "urnd is ready" {
			ready <- [2]string{reported.Service, reported.Admin}
		} else if _, service, ok := strings.Cut(line, `msg="urnd is ready" service=`); ok {
			service, rest, _ := strings.Cut(service, " ")
			_, admin, _ := strings.Cut(rest, "admin=")
			admin, _, _ = strings.Cut(admin, " ")
			ready <- [2]string{service, admin}
		}
		if err != nil {
			return
		}
	}
}

// setLoad replaces the function that reads the configuration at the next reload.
func (w *testDaemon) setLoad(f func() (config.Config, error)) { w.next.Store(&f) }

// adminRequest sends a request "METHOD TARGET" to the admin listener.
func (w *testDaemon) adminRequest(t *testing.T, request string, fields ...string) (int, string) {
	t.Helper()
	method, target, _ := strings.Cut(request, " ")
	r, err := http.NewRequest(method, w.admin+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		r.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// cacheStates returns the first word of Cache-Status for each of the paths.
func (w *testDaemon) cacheStates(t *testing.T, paths ...string) string {
	t.Helper()
	var all []string
	for _, path := range paths {
		word, _, _ := strings.Cut(strings.TrimPrefix(w.get(t, path).cacheStatus, "urnd; "), ";")
		all = append(all, strings.TrimPrefix(word, "fwd=uri-"))
	}
	return strings.Join(all, " ")
}
