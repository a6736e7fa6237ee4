package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkColdTHTTP measures the CPU time of the daemon for a new name that a THTTP server resolves: the
// cost of a cache miss. The daemon is a separate process, so that neither the clients nor the server are
// counted; ns/op includes both, since they share the processors.
//
// Linux counts CPU time in hundredths of a second, and the first requests set up connections, so cpu-us/op is
// meaningful only for many requests: -benchtime 40000x.
func BenchmarkColdTHTTP(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "urnd")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	// A nested benchmark: the program is built once, and restarted for each b.N, so that no name is requested
	// twice.
	b.Run("connections=8", func(b *testing.B) { benchmarkColdTHTTP(b, binary, 8) })
}

func benchmarkColdTHTTP(b *testing.B, binary string, connections int) {
	const prefix = "urn:bench:"
	var requested atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := strings.CutPrefix(r.URL.RawQuery, prefix)
		if !ok || r.URL.Path != "/uri-res/N2L" {
			http.NotFound(w, r)
			return
		}
		requested.Add(1)
		w.Header().Set("Location", "http://example.org/"+name)
		w.Header().Set("Cache-Control", "max-age=3600")
		w.WriteHeader(http.StatusSeeOther)
	}))
	defer server.Close()
	pid, address := startColdTHTTP(b, binary, server.URL)

	var clients []net.Conn
	for range connections {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		clients = append(clients, conn)
	}
	var next atomic.Int64
	var running sync.WaitGroup
	before := cpuTime(b, pid)
	b.ResetTimer()
	for _, conn := range clients {
		running.Go(func() {
			answers := bufio.NewReader(conn)
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if _, err := fmt.Fprintf(conn, "GET /%s%d HTTP/1.1\r\nHost: urnd\r\n\r\n", prefix, n); err != nil {
					b.Error(err)
					return
				}
				if err := readRedirect(answers, "http://example.org/"+strconv.FormatInt(n, 10)); err != nil {
					b.Errorf("%s%d: %v", prefix, n, err)
					return
				}
			}
		})
	}
	running.Wait()
	b.StopTimer()
	used := cpuTime(b, pid) - before
	if n := requested.Load(); n != int64(b.N) { // a cache hit would improve the result
		b.Errorf("the server was asked %d times for %d names", n, b.N)
	}
	b.ReportMetric(float64(used.Microseconds())/float64(b.N), "cpu-us/op")
}

// startColdTHTTP runs the daemon until the benchmark ends, with one namespace that the server at url
// resolves, and returns its address. It depends only on the settings and the ready line, so that the same
// file measures other versions, too.
func startColdTHTTP(b *testing.B, binary, url string) (pid int, address string) {
	b.Helper()
	config := filepath.Join(b.TempDir(), "urnd.yaml")
	text := fmt.Sprintf(`
listen: {service: "127.0.0.1:0", admin: ""}
dns: {servers: ["127.0.0.1:9"]}
ddds: {enabled: false}
access: {allow_destinations: [127.0.0.0/8]}
log: {format: json}
namespaces:
  - nid: bench
    order: [thttp]
    thttp: [%q]
`, url)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(binary, "serve", "--config", config)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	rest := make(chan string, 1) // the log must be read, or a full pipe blocks the daemon
	b.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		text := <-rest
		if err := cmd.Wait(); err != nil || b.Failed() {
			b.Errorf("urnd ended with %v, after %s", err, text)
		}
	})
	var ready struct{ Msg, Service string }
	for ready.Msg != "urnd is ready" {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			rest <- string(line)
			b.Fatalf("urnd ended before it was ready: %v", err)
		}
		if err := json.Unmarshal(line, &ready); err != nil {
			b.Errorf("%s: %v", line, err)
		}
	}
	go func() {
		text, _ := io.ReadAll(lines)
		rest <- string(text)
	}()
	return cmd.Process.Pid, ready.Service
}

// readRedirect reads one response, which must redirect to location.
func readRedirect(answers *bufio.Reader, location string) error {
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body) // the next response follows it
	if err != nil {
		return err
	}
	if got := response.Header.Get("Location"); response.StatusCode != http.StatusFound || got != location {
		return fmt.Errorf("%s to %q, want 302 to %q: %s", response.Status, got, location, body)
	}
	return nil
}

// cpuTime returns the user and system time of a process with all its threads: fields 14 and 15 of
// proc_pid_stat(5).
func cpuTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		b.Fatal(err)
	}
	// The name of the program is in parentheses, and may contain spaces.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const utime, state = 14, 3 // state is the first field after the name
	var ticks int
	for _, field := range fields[utime-state : utime-state+2] {
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100 // USER_HZ is 100 on every platform that Go supports
}
