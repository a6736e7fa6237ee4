package list

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// FuzzHosts parses lines, and compares look-ups with a scan of the entries.
func FuzzHosts(f *testing.F) {
	for _, line := range []string{
		"example.org", ".example.org", "*.example.org", "a?.*.example.org", "track*", "metrics.*", "0.0.0.0 a.example b.example # c",
		"||example.org^$important", "@@||a.example.org^", "|x.example^|", "192.0.2.0/24", "[2001:db8::1]", "BÜCHER.example", "||192.0.2.1^",
		"[Adblock Plus 2.0]", "! a", "example.org##.ad", "/ad/", "%41.example", "a..b", "::", "|", "@@", "[]", "0.0.0.0 \x00",
	} {
		f.Add(line+"\n.example.org\n@@||b.example.org^", "a.example.org")
	}
	f.Fuzz(func(t *testing.T, content, asked string) {
		hosts, report, err := ParseHosts(strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		var all []host
		_, err = read(strings.NewReader(content), "#", func(line string) (int, error) {
			entries, err := parseHostLine(nil, line)
			if err == nil {
				all = append(all, entries...)
			}
			return len(entries), err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != report.Entries {
			t.Errorf("%d entries, and %d of lines", report.Entries, len(all))
		}
		tried := []string{uri.CanonicalHost(asked), "www.example.org"}
		for i := range all {
			e := &all[i]
			if e.literals.first.IsValid() {
				tried = append(tried, e.literals.first.String(), e.literals.last.String())
				continue
			}
			tried = append(tried, strings.NewReplacer("*", "a", "?", "b").Replace(e.name), "below."+e.name)
			if !e.except && !e.below && !e.wild && !hosts.Has(e.name, netip.Addr{}) && !scan(all, e.name, netip.Addr{}, true) {
				t.Errorf("%q is not found", e.name)
			}
		}
		for _, text := range tried {
			literal, _ := netip.ParseAddr(text)
			wanted := scan(all, text, literal, false) && !scan(all, text, literal, true)
			if got := hosts.Has(text, literal); got != wanted {
				t.Errorf("%q: %v, not %v", text, got, wanted)
			}
		}
	})
}

// scan compares a host with all entries, or exceptions.
func scan(all []host, asked string, literal netip.Addr, except bool) bool {
	literal = literal.Unmap().WithZone("")
	for i := range all {
		e := &all[i]
		switch {
		case e.except != except:
		case e.literals.first.IsValid() || literal.IsValid():
			if first := e.literals.first; first.IsValid() && first.BitLen() == literal.BitLen() &&
				first.Compare(literal) <= 0 && literal.Compare(e.literals.last) <= 0 {
				return true
			}
		case e.wild:
			if len(asked) <= maxName && matchPattern(e.name, asked) {
				return true
			}
		case e.name == asked, e.below && strings.HasSuffix(asked, "."+e.name):
			return true
		}
	}
	return false
}

// FuzzURLs parses lines, and looks up what they have.
func FuzzURLs(f *testing.F) {
	for _, line := range []string{
		"http://192.0.2.1:81/a", "example.org/a/b", "http://.example.org/a?b=c", "||example.org/a^$all", "@@|example.org/a^", "http://bücher.example/ä b",
		"http://[::1]/", "http://example.org/%2e%2E/a//b/", "http://a@b/c", "http:", "//", "a@b", "?", "http://.", "||^",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		urls, _, err := ParseURLs(strings.NewReader(line + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		line = withoutComment(line, "#")
		if strings.ContainsAny(line, "\n") || line == "" || isAdBlockComment(line) || len(line) > maxLine-2 || strings.HasPrefix(line, "\ufeff") {
			return
		}
		added, err := parseURLLine(line)
		if err != nil {
			return
		}
		literal := added.host.literals.first
		query := strings.TrimPrefix(added.query, "?")
		if urls.Has(added.host.name, literal, added.path, query) == added.host.except {
			t.Errorf("%q: exception %v", line, added.host.except)
		}
		if query == "" && urls.Has(added.host.name, literal, strings.TrimSuffix(added.path, "/")+"/below", "x=y") == added.host.except {
			t.Errorf("%q: what is below it is not found", line)
		}
		if urls.Has("other.example.net", netip.Addr{}, added.path, query) && !strings.HasSuffix("other.example.net", added.host.name) {
			t.Errorf("%q has all hosts", line)
		}
	})
}

// FuzzNetworks parses lines, and compares look-ups with a scan of their ranges.
func FuzzNetworks(f *testing.F) {
	f.Add("192.0.2.0/24\n192.0.3.1-192.0.3.9\n192.0.3.5 - 192.0.4.0", "192.0.3.9")
	f.Add("2001:db8::/33\n2001:db8:8000::/33\n::ffff:192.0.2.0/120", "2001:db8::")
	f.Add("255.255.255.255\n::\n0.0.0.0", "::")
	f.Fuzz(func(t *testing.T, content, asked string) {
		networks, report, err := ParseNetworks(strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		var all []host
		_, err = read(strings.NewReader(content), "#;", func(line string) (int, error) {
			r, err := parseRange(line)
			if err == nil {
				all = append(all, host{literals: r})
			}
			return 1, err
		})
		if err != nil || len(all) != report.Entries {
			t.Fatal(err, len(all), report.Entries)
		}
		tried := make([]netip.Addr, 0, 1+4*len(all))
		for _, e := range all {
			tried = append(tried, e.literals.first, e.literals.last, e.literals.first.Prev(), e.literals.last.Next())
		}
		if addr, err := netip.ParseAddr(asked); err == nil {
			tried = append(tried, addr)
		}
		for _, addr := range tried {
			if got := networks.Has(addr); got != (addr.IsValid() && scan(all, "", addr, false)) {
				t.Errorf("%s: %v", addr, got)
			}
		}
	})
}
