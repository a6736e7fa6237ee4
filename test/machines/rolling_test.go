//go:build e2e

package machines

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// rolling is a set of instances behind an HAProxy without retries.
type rolling struct {
	front      string
	statistics string // address of the HAProxy statistics
	starts     []func() *fileDaemon
	running    []*fileDaemon
}

// startRolling starts instances, and an HAProxy for them, which has detected them.
func startRolling(t *testing.T, instances int) *rolling {
	t.Helper()
	folder := testserver.OpenFolder(t)
	r := &rolling{front: freeAddress(t), statistics: freeAddress(t)}
	var servers strings.Builder
	for i := range instances {
		addresses := freeAddresses(t, 2)
		service, admin := addresses[0], addresses[1]
		r.starts = append(r.starts, func() *fileDaemon {
			return start(t, fmt.Sprintf("listen: {service: '%s', admin: '%s'}", service, admin),
				"limits: {notice_time: 1s}")
		})
		r.running = append(r.running, r.starts[i]())
		_, port, _ := strings.Cut(admin, ":")
		fmt.Fprintf(&servers, "    server s%d %s check port %s inter 100ms fastinter 50ms fall 1 rise 1\n", i,
			service, port)
	}
	file := filepath.Join(folder, "haproxy.cfg")
	text := fmt.Sprintf(`defaults
    mode http
    retries 0
    timeout connect 5s
    timeout client 60s
    timeout server 60s
frontend statistics
    bind %s
    stats enable
    stats uri /
frontend front
    bind %s
    default_backend urnd
backend urnd
    balance roundrobin
    option httpchk GET /readyz
    http-check expect status 200
%s`, r.statistics, r.front, servers.String())
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { // HAProxy runs as another user
		t.Fatal(err)
	}
	testserver.StartFront(t, folder, "haproxy", r.front, "-db", "-f", file)
	testserver.Wait(t, "HAProxy has checked all instances", r.isUp(t, instances))
	return r
}

// isUp returns a function that reports whether HAProxy considers n instances available.
func (r *rolling) isUp(t *testing.T, n int) func() bool {
	return func() bool {
		return strings.Count(readStatistics(t, r.statistics), ",UP,") == n+1 // including the backend
	}
}

// under sends requests while the instances are changed one after another, and reports failed requests.
func (r *rolling) under(t *testing.T, change func(i int)) {
	t.Helper()
	const clients = 32
	busy := startBusyClients(clients, r.front)
	for i := range r.running {
		before := busy.answered.Load()
		testserver.Wait(t, "requests are answered", func() bool { return busy.answered.Load() > before+300 })
		change(i)
	}
	busy.ended.Store(true)
	busy.running.Wait()
	lost, all := busy.lost.Load()+busy.refused.Load(), busy.answered.Load()
	if lost > 0 {
		t.Errorf("%d of %d requests failed", lost, all+lost)
	}
	t.Logf("%d requests were answered", all)
}

// TestRollingRestart checks that no request fails while three instances behind HAProxy are restarted one after
// another.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	r := startRolling(t, 3)
	r.under(t, func(i int) {
		r.running[i].stop(t)
		testserver.Wait(t, "HAProxy has noticed", r.isUp(t, len(r.running)-1))
		r.running[i] = r.starts[i]()
		testserver.Wait(t, "the instance is used again", r.isUp(t, len(r.running)))
	})
}

// TestRollingReload reloads the instances one after another, with changed limits of connections, caches and
// names, and without changes; and all concurrently.
func TestRollingReload(t *testing.T) {
	t.Parallel()
	r := startRolling(t, 3)
	rewrite := func(l *fileDaemon, more ...string) {
		listen := fmt.Sprintf("listen: {service: '%s', admin: '%s'}", strings.TrimPrefix(l.url, "http://"), l.admin)
		l.write(t, append([]string{listen}, more...)...)
	}
	r.under(t, func(i int) {
		l := r.running[i]
		for _, lines := range [][]string{
			{"limits: {notice_time: 2s, connections: 5000}"},
			{"cache: {answers: 2MiB, records: 2MiB}"},
			{"namespaces: " + bookNamespace("b")},
			nil, nil,
		} {
			if rewrite(l, lines...); !l.reload(t) {
				t.Errorf("instance %d refuses %q", i, lines)
			}
		}
	})
	r.under(t, func(int) {
		for _, l := range r.running {
			l.hangup()
		}
	})
	for _, l := range r.running {
		testserver.Wait(t, "all reloads are done", func() bool { return l.logged("configuration reloaded") >= 6 })
		if l.logged("configuration reload failed") > 0 {
			t.Error("a reload was refused")
		}
	}
}

// readStatistics returns the statistics of HAProxy about its servers.
func readStatistics(t *testing.T, address string) string {
	t.Helper()
	response, err := http.DefaultTransport.RoundTrip(request(t, http.MethodGet, "http://"+address+"/;csv"))
	if err != nil {
		t.Log(err)
		return ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return string(text)
}
