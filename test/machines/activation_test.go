//go:build e2e

package machines

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// traffic is clients that request a name over new and persistent connections until it is stopped. A request
// without a response fails the test.
type traffic struct {
	answered atomic.Int64
	stop     func()
}

func startTraffic(t *testing.T, address string) *traffic {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var asking sync.WaitGroup
	requested := &traffic{stop: func() {
		cancel()
		asking.Wait()
	}}
	for i := range 4 {
		transport := &http.Transport{DisableKeepAlives: i%2 == 0} // requests on a new connection are not retried
		asking.Go(func() {
			defer transport.CloseIdleConnections()
			pace := time.NewTicker(time.Millisecond) // leaves CPU time for urnd
			defer pace.Stop()
			for ; ctx.Err() == nil; <-pace.C {
				request, _ := http.NewRequest(http.MethodGet, address+"/urn:book:1", nil)
				response, err := transport.RoundTrip(request)
				if err != nil {
					t.Errorf("after %d answers: %v", requested.answered.Load(), err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if location := response.Header.Get("Location"); response.StatusCode != http.StatusFound ||
					!strings.HasSuffix(location, ".example/1") {
					t.Errorf("status %d, Location %q", response.StatusCode, location)
					return
				}
				requested.answered.Add(1)
			}
		})
	}
	t.Cleanup(requested.stop)
	return requested
}

// withoutGC disables the garbage collector of urnd, which would close leaked files.
const withoutGC = "GOGC=off"

// reloadUnderTraffic makes many reloads of all kinds, and checks for leaks.
func reloadUnderTraffic(t *testing.T, l *fileDaemon, listen string, level func() [2]int) {
	taken := freeAddress(t)
	listener, err := net.Listen("tcp", taken)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	kinds := [][]string{
		{listen},
		{listen, "namespaces: " + bookNamespace("b")}, // a new cache
		{listen, "limits: {idle_timeout: 1m}"},        // a new server
		{listen, "log: {format: text, access: [{file: '" + filepath.Join(t.TempDir(), "access") + "'}]}"},
		{"namespaces: " + bookNamespace("c"), "listen: {service: '" + freeAddress(t) + "', admin: '" + taken + "'}"},
	}
	round := func() {
		for i, kind := range kinds {
			l.write(t, kind...)
			if done := l.reload(t); done != (i < 4) {
				t.Fatalf("kind %d: %t", i, done)
			}
		}
	}
	round()
	before := level()
	requested := startTraffic(t, l.url)
	const rounds, some, most = 20, 8, 8
	var took []time.Duration
	for range rounds {
		began := time.Now()
		round()
		took = append(took, time.Since(began))
	}
	// Leaks make later reloads slower; other load of the machine only affects some of them.
	first, last := slices.Sorted(slices.Values(took[:some])), slices.Sorted(slices.Values(took[rounds-some:]))
	if first[some/2]*most < last[some/2] {
		t.Errorf("five reloads took %s at first, %s in the end", first[some/2], last[some/2])
	}
	requested.stop()
	t.Logf("%d answers, five reloads took %s at first, %s in the end", requested.answered.Load(), first[some/2],
		last[some/2])
	var after [2]int
	defer func() { t.Logf("goroutines and descriptors: %d, then %d", before, after) }()
	testserver.Wait(t, "all goroutines and descriptors of the reloads are gone", func() bool {
		after = level()
		return after[0] <= before[0] && after[1] <= before[1]
	})
}

// TestActivation: systemd.socket(5): the sockets exist before urnd starts.
func TestActivation(t *testing.T) {
	t.Parallel()
	activate := testserver.Need(t, "systemd-socket-activate")
	service, other := freeAddress(t), freeAddress(t)
	path := filepath.Join(t.TempDir(), "admin")
	l := newFileDaemon(t, "listen: {service: '192.0.2.1:80', admin: '192.0.2.1:81'}") // neither exists on this machine
	l.run(t, exec.Command(activate, "--listen="+service, "--listen="+other, "--listen="+path,
		"--fdname=http:http:admin",
		urndtest.Binary(t), "serve", "--config", l.file))
	l.url = "http://" + service
	testserver.Wait(t, "systemd-socket-activate listens", func() bool { return l.logged("Listening on") == 3 })
	if got := l.get(t, "/urn:book:1"); got.Location != "https://a.example/1" {
		t.Errorf("%+v", got)
	}
	want := `service="` + service + ", " + other + `" tls=off admin=` + path
	testserver.Wait(t, "the log has "+want, func() bool { return l.logged(want) == 1 })
	sockets := [2]string{socketAt(t, service), socketAt(t, other)}
	l.write(t, "listen: {service: '192.0.2.2:80', admin: ''}", "namespaces: "+bookNamespace("b"))
	if !l.reload(t) {
		t.Error("refused")
	}
	if now := [2]string{socketAt(t, service), socketAt(t, other)}; now != sockets || now[0] == "" || now[1] == "" {
		t.Errorf("sockets %q, now %q", sockets, now)
	}
	l.url = "http://" + other
	if got := l.get(t, "/urn:book:1"); got.Location != "https://b.example/1" {
		t.Errorf("%+v", got)
	}
	administrators := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", path)
		},
	}}
	response, err := administrators.Get("http://localhost/healthz")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("admin: %s", response.Status)
	}
	l.stop(t)
	if _, err := os.Stat(path); err != nil {
		t.Errorf("a socket of systemd's was removed: %v", err)
	}
}

// TestActivationRestart: systemd holds the listening socket, so that connections wait while urnd restarts, and
// none is refused or reset.
func TestActivationRestart(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	var requested *traffic
	for restart := range 6 {
		l := newFileDaemon(t)
		l.serveOn(t, socket, "http")
		if requested == nil {
			requested = startTraffic(t, "http://"+listener.Addr().String())
		}
		l.ready(t)
		before := requested.answered.Load()
		testserver.Wait(t, "requests are answered",
			func() bool { return t.Failed() || requested.answered.Load() > before+300 })
		if restart == 5 || t.Failed() {
			requested.stop()
			return
		}
		l.stop(t)
	}
}
