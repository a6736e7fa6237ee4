package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// Three instances behind HAProxy are restarted one after another while clients ask, and no request fails. HAProxy tries
// nothing again.
func TestRollingRestart(t *testing.T) {
	dir, front, folder := build(t), freeAddress(t), testserver.OpenFolder(t)
	const instances, clients = 3, 32
	var servers strings.Builder
	starts := make([]func() *fileDaemon, instances)
	running := make([]*fileDaemon, instances)
	for i := range instances {
		service, admin := freeAddress(t), freeAddress(t)
		starts[i] = func() *fileDaemon {
			l := newFileDaemon(t, fmt.Sprintf("listen: {service: '%s', admin: '%s'}", service, admin), "limits: {notice_time: 1s}")
			l.startProgram(t, exec.Command(filepath.Join(dir, "urnd"), "serve", "--config", l.file))
			l.ready(t)
			return l
		}
		running[i] = starts[i]()
		_, port, _ := strings.Cut(admin, ":")
		fmt.Fprintf(&servers, "    server s%d %s check port %s inter 100ms fastinter 50ms fall 1 rise 1\n", i, service, port)
	}
	file := filepath.Join(folder, "haproxy.cfg")
	statistics := freeAddress(t)
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
%s`, statistics, front, servers.String())
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { // HAProxy runs as another user
		t.Fatal(err)
	}
	testserver.StartFront(t, folder, "haproxy", front, "-db", "-f", file)
	isUp := func(n int) func() bool {
		return func() bool {
			return strings.Count(readStatistics(t, statistics), ",UP,") == n+1 // and the backend
		}
	}
	testserver.Wait(t, "HAProxy has checked all instances", isUp(instances))
	busy := startBusyClients(clients, front)
	for i := range instances {
		before := busy.answered.Load()
		testserver.Wait(t, "requests are answered", func() bool { return busy.answered.Load() > before+300 })
		running[i].stop()
		testserver.Wait(t, "HAProxy has noticed", isUp(instances-1))
		running[i] = starts[i]()
		testserver.Wait(t, "the instance is used again", isUp(instances))
	}
	busy.ended.Store(true)
	busy.running.Wait()
	lost, all := busy.lost.Load()+busy.refused.Load(), busy.answered.Load()
	if lost > 0 {
		t.Errorf("%d of %d requests failed", lost, all+lost)
	}
	t.Logf("%d requests were answered", all)
}

// readStatistics returns what HAProxy says of its servers.
func readStatistics(t *testing.T, address string) string {
	t.Helper()
	response, err := http.DefaultTransport.RoundTrip(mustGet(t, "http://"+address+"/;csv"))
	if err != nil {
		t.Log(err)
		return ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return string(text)
}
