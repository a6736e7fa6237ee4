//go:build e2e

package machines

import (
	"bufio"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/test/urndtest"
)

// memoryGroup creates a control group with a limit in bytes, for either version of cgroups(7). It returns its
// folder and the file with its peak usage.
func memoryGroup(t *testing.T, name string, limit int) (group, peak string) {
	t.Helper()
	for _, version := range []struct{ root, limit, swap, peak string }{
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max", "memory.peak"},
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max_usage_in_bytes"},
	} {
		group := filepath.Join(version.root, "urnd-test-"+strconv.Itoa(os.Getpid())+"-"+name)
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(group) })
		file, err := os.OpenFile(filepath.Join(group, version.limit), os.O_WRONLY, 0)
		if err != nil {
			_ = os.Remove(group)
			continue // the root does not delegate the controller, or is not a control group
		}
		_, err = file.WriteString(strconv.Itoa(limit))
		if err = errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		swap, bound := filepath.Join(group, version.swap), "0"
		if strings.HasSuffix(version.swap, "_in_bytes") {
			bound = strconv.Itoa(limit)
		}
		_ = os.WriteFile(swap, []byte(bound), 0) // swap may be unsupported
		return group, filepath.Join(group, version.peak)
	}
	t.Skip("no control group with a limit of memory can be made: it takes root and a writable /sys/fs/cgroup")
	return "", ""
}

// detectsRaces reports whether the program was built with the race detector.
func detectsRaces(t *testing.T) bool {
	t.Helper()
	info, err := buildinfo.ReadFile(urndtest.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// fill sends requests for n targets over several connections concurrently.
func fill(t *testing.T, address string, n int, target func(i int) string) {
	t.Helper()
	const connections, batch = 4, 50
	var all sync.WaitGroup
	defer all.Wait()
	for first := range connections {
		all.Go(func() {
			conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			in := bufio.NewReader(conn)
			for i := first * batch; i < n; i += connections * batch {
				var requests strings.Builder
				for j := range batch {
					fmt.Fprintf(&requests, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", target(i+j))
				}
				if _, err := io.WriteString(conn, requests.String()); err != nil {
					t.Error(err)
					return
				}
				for range batch {
					got, err := http.ReadResponse(in, nil)
					if err == nil {
						_, err = io.Copy(io.Discard, got.Body)
					}
					if err != nil || got.StatusCode >= http.StatusInternalServerError {
						t.Errorf("at %d: %v %v", i, got, err)
						return
					}
				}
			}
		})
	}
}

// TestFullCachesInControlGroup checks that urnd is not killed by the limit of its control group when every
// cache is full, with objects of half and of twice the usual size. The limit is below the sum of the settings;
// without it the garbage collector would start when the heap has doubled.
func TestFullCachesInControlGroup(t *testing.T) {
	t.Parallel()
	if detectsRaces(t) {
		t.Skip("a program with the race detector takes more memory: set TEST_URND to one without")
	}
	const limit = 140 << 20
	text := `cache: {responses: 64MiB, max_response: 1MiB, answers: 4MiB, records: 4MiB}
limits: {documents: 4MiB, connections: 64, requests: 64, fetches: 64, streams: 16}
access: {allow_destinations: [127.0.0.0/8]}
namespaces: ` + bookNamespace("a") + "\n"
	nxdomain := func(w dns.ResponseWriter, question *dns.Msg) {
		m := new(dns.Msg).SetRcode(question, dns.RcodeNameError)
		soa, err := dns.NewRR("arpa. 3600 IN SOA ns.example.org. host.example.org. 1 1 1 1 3600")
		if err != nil {
			t.Error(err)
		}
		m.Ns = []dns.RR{soa}
		_ = w.WriteMsg(m)
	}
	names := urndtest.UDPAndTCP(nxdomain).Serve(t)
	for _, size := range []struct{ body, name int }{{512, 20}, {2 << 10, 80}} {
		t.Run(strconv.Itoa(size.body), func(t *testing.T) {
			group, peak := memoryGroup(t, strconv.Itoa(size.body), limit)
			body := []byte(strings.Repeat("b", size.body))
			origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Cache-Control", "max-age=3600")
				_, _ = w.Write(body)
			}))
			defer origin.Close()
			file := filepath.Join(t.TempDir(), "urnd.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", "-c", `echo $$ > "$0"/cgroup.procs && exec "$@"`, group, urndtest.Binary(t),
				"serve", "--config", file)
			cmd.Env = append(os.Environ(), "URND_LISTEN_SERVICE=127.0.0.1:0", "URND_LISTEN_ADMIN=127.0.0.1:0",
				"URND_LOG_FORMAT=json",
				"URND_DNS_SERVERS="+names, "GOMEMLIMIT=")
			d := urndtest.StartCommand(t, cmd)
			usual := strings.Repeat("n", size.name)
			fill(t, d.URL, 64<<20/(size.body+1000)*5/4,
				func(i int) string { return origin.URL + "/" + strconv.Itoa(i) })
			fill(t, d.URL, 15_000, func(i int) string { return "/urn:book:" + usual + strconv.Itoa(i) })
			fill(t, d.URL, 10_000, func(i int) string { return "/urn:unknown-" + strconv.Itoa(i) + ":" + usual })
			metrics := d.Scrape(t)
			for _, cache := range []string{"answers", "records", "responses"} {
				evictions := regexp.MustCompile(`urnd_cache_evictions_total\{cache="` + cache +
					`"\} (.+)`).FindStringSubmatch(metrics)
				if evictions == nil || evictions[1] == "0" {
					t.Errorf("%s: it is not full: %v", cache, evictions)
				}
			}
			used, _ := os.ReadFile(peak)
			most, _ := strconv.Atoi(strings.TrimSpace(string(used)))
			t.Logf("%d MiB of %d at most", most>>20, limit>>20)
		})
	}
}
