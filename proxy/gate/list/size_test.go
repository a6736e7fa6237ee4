package list_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/gate/list"
)

// manyHosts returns a list of n hosts like published ones: names of three labels, a tenth of them with all
// names below them.
func manyHosts(n int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	for i := range n {
		if i%10 == 0 {
			fmt.Fprintf(&text, "||t%x.tracker-%d.example^\n", random.Uint32(), i)
		} else {
			fmt.Fprintf(&text, "h%x.ads-%d.example\n", random.Uint32(), i)
		}
	}
	return text.Bytes()
}

// TestMemory limits the memory of a million hosts, and looks some of them up.
func TestMemory(t *testing.T) {
	const most = 100 << 20
	n := 1_000_000
	if testing.Short() || raceEnabled {
		n = 10_000
	}
	text := manyHosts(n)
	before := heap()
	hosts, report, err := list.ParseHosts(bytes.NewReader(text))
	if err != nil || report.Entries != n || report.Skipped != 0 {
		t.Fatal(err, report)
	}
	used := heap() - before
	t.Logf("%d hosts: %d bytes", n, used)
	if used > most {
		t.Errorf("%d hosts take %d bytes, more than %d", n, used, most)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i := 0; i < n; i += 100 {
		name, below := strings.CutPrefix(strings.TrimSuffix(lines[i], "^"), "||")
		if !hosts.Has(name, netip.Addr{}) || hosts.Has("www."+name, netip.Addr{}) != below ||
			hosts.Has("x"+name, netip.Addr{}) {
			t.Fatal("not as in the list:", name)
		}
	}
	runtime.KeepAlive(text)
}

// heap returns the bytes of the heap in use.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestNoAllocations: look-ups, which run for each request, do not allocate.
func TestNoAllocations(t *testing.T) {
	hosts, _, _ := list.ParseHosts(strings.NewReader(".example.org\n*.example.net\na*.x?.example.net\n192.0.2.0/24\nmetrics.*\n@@||a.example.org^\n"))
	urls, _, _ := list.ParseURLs(strings.NewReader("http://.example.org/a/b\nhttp://[2001:db8::1]/a?b\n"))
	networks, _, _ := list.ParseNetworks(strings.NewReader("192.0.2.0/24\n2001:db8::/32\n"))
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	path := "/a/b/" + strings.Repeat("c/", 100)
	for name, found := range map[string]func() bool{
		"name":         func() bool { return hosts.Has("b.example.org", netip.Addr{}) },
		"pattern":      func() bool { return hosts.Has("abc.x1.example.net", netip.Addr{}) },
		"address":      func() bool { return hosts.Has("192.0.2.1", v4) },
		"URL":          func() bool { return urls.Has("www.a.b.example.org", netip.Addr{}, path, "query=1") },
		"URL, address": func() bool { return urls.Has("2001:db8::1", v6, "/a", "b") },
		"IPv4 network": func() bool { return networks.Has(v4) },
		"IPv6 network": func() bool { return networks.Has(v6) },
	} {
		if !found() {
			t.Error("not found:", name)
		}
		if n := testing.AllocsPerRun(100, func() { found() }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkParseHosts(b *testing.B) {
	text := manyHosts(1_000_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := list.ParseHosts(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHosts(b *testing.B) {
	text := manyHosts(1_000_000)
	hosts, _, err := list.ParseHosts(bytes.NewReader(text))
	if err != nil {
		b.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(string(text), "||", "www."), "^", ""), "\n")
	for name, prefix := range map[string]string{"found": "", "missing": "a.b.c."} {
		requested := make([]string, 1<<16)
		for i := range requested {
			requested[i] = prefix + lines[i*15]
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				hosts.Has(requested[i&(1<<16-1)], netip.Addr{})
			}
		})
	}
}
