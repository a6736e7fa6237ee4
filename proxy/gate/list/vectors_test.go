package list_test

import (
	"bufio"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/urnd/urnd/proxy/gate/list"
	"github.com/urnd/urnd/uri"
)

// The interfaces of package policy, which this package does not import.
var (
	_ interface {
		String() string
		Has(host string, literal netip.Addr) bool
	} = list.HostFile{}
	_ interface {
		String() string
		Has(host string, literal netip.Addr, path, query string) bool
	} = list.URLFile{}
	_ interface {
		String() string
		Has(addr netip.Addr) bool
	} = list.NetworkFile{}
)

// lookup returns whether a list has the entry in a line of a vector file.
type lookup func(t *testing.T, text string) bool

// TestVectors parses the samples in testdata, whose extension is the kind of the list, and compares look-ups
// with their ".want" files.
func TestVectors(t *testing.T) {
	wanted, err := filepath.Glob("testdata/*.want")
	if err != nil || len(wanted) < 5 {
		t.Fatal("too few samples:", wanted, err)
	}
	for _, path := range wanted {
		sample := strings.TrimSuffix(path, ".want")
		t.Run(filepath.Base(sample), func(t *testing.T) {
			content, err := os.ReadFile(sample)
			if err != nil {
				t.Fatal(err)
			}
			for _, ends := range []string{"\n", "\r\n"} {
				has, report := parse(t, filepath.Ext(sample), "\ufeff"+strings.ReplaceAll(string(content), "\n", ends))
				compare(t, path, has, report)
			}
		})
	}
}

func parse(t *testing.T, kind, content string) (lookup, list.Report) {
	t.Helper()
	var report list.Report
	var err error
	var has lookup
	switch kind {
	case ".hosts":
		var hosts *list.Hosts
		hosts, report, err = list.ParseHosts(strings.NewReader(content))
		has = func(_ *testing.T, text string) bool { return hosts.Has(text, literal(text)) }
	case ".urls":
		var urls *list.URLs
		urls, report, err = list.ParseURLs(strings.NewReader(content))
		has = func(t *testing.T, text string) bool { return hasURL(t, urls, text) }
	case ".networks":
		var networks *list.Networks
		networks, report, err = list.ParseNetworks(strings.NewReader(content))
		has = func(_ *testing.T, text string) bool { return networks.Has(netip.MustParseAddr(text)) }
	}
	if err != nil || has == nil {
		t.Fatal(kind, err)
	}
	return has, report
}

// literal returns the address of a host, the zero value for a name.
func literal(host string) netip.Addr {
	addr, _ := netip.ParseAddr(host)
	return addr
}

func hasURL(t *testing.T, urls *list.URLs, text string) bool {
	t.Helper()
	u, err := uri.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	u = u.Normalize()
	query, _ := u.Query()
	return urls.Has(u.Hostname(), literal(u.Hostname()), u.Path(), query)
}

func compare(t *testing.T, path string, has lookup, report list.Report) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "entries", "skipped":
			got := map[string]int{"entries": report.Entries, "skipped": report.Skipped}[verb]
			if strconv.Itoa(got) != rest {
				t.Errorf("%d %s, not %s: %.1000v", got, verb, rest, report.Mistakes)
			}
		case "mistake":
			found := slices.ContainsFunc(report.Mistakes,
				func(m list.Mistake) bool { return strings.HasPrefix(m.String(), rest) })
			if !found {
				t.Errorf("no mistake %s", rest)
			}
		case "+", "-":
			if got := has(t, rest); got != (verb == "+") {
				t.Errorf("the list has %s: %v", rest, got)
			}
		default:
			t.Errorf("%q is not a line of a vector file", lines.Text())
		}
	}
}

// TestBounds: too long lines are skipped, and the following ones are read.
func TestBounds(t *testing.T) {
	long := strings.Repeat("a.", 4096) + "example"
	hosts, report, err := list.ParseHosts(strings.NewReader(long + "\n# " + long + "\n" + strings.Repeat("ä", 600) +
		"\nb.example\n" + long))
	if err != nil || report.Skipped != 4 || report.Entries != 1 || !report.Unfinished ||
		!hosts.Has("b.example", netip.Addr{}) {
		t.Error(err, report)
	}
	if m := report.Mistakes[3]; m.Line != 5 || len(m.Text) > 100 {
		t.Error(m)
	}
	var patterns strings.Builder
	for i := range 300 {
		patterns.WriteString("a" + strconv.Itoa(i) + "*.example\n")
	}
	if _, report, _ = list.ParseHosts(strings.NewReader(patterns.String())); report.Entries != 256 ||
		report.Skipped != 44 || len(report.Mistakes) != 10 {
		t.Error(report.Entries, report.Skipped)
	}
}

// TestReadError: a read error discards the list.
func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	if hosts, _, err := list.ParseHosts(io.MultiReader(strings.NewReader("a.example\n"),
		iotest.ErrReader(broken))); hosts != nil || !errors.Is(err, broken) {
		t.Error(hosts, err)
	}
}
