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
		"example.org", ".example.org", "*.example.org", "a?.*.example.org", "track*", "metrics.*",
		"0.0.0.0 a.example b.example # c", "||example.org^$important", "@@||a.example.org^", "|x.example^|",
		"192.0.2.0/24", "[2001:db8::1]", "BÜCHER.example", "||192.0.2.1^", "[Adblock Plus 2.0]", "! a",
		"example.org##.ad", "/ad/", "%41.example", "a..b", "::", "|", "@@", "[]",
		"0.0.0.0 \x00",
	} {
		f.Add(line+"\n.example.org\n@@||b.example.org^", "a.example.org")
	}
	f.Fuzz(func(t *testing.T, content, requested string) {
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
		tried := []string{uri.CanonicalHost(requested), "www.example.org"}
		for i := range all {
			e := &all[i]
			if e.literals.first.IsValid() {
				tried = append(tried, e.literals.first.String(), e.literals.last.String())
				continue
			}
			tried = append(tried, strings.NewReplacer("*", "a", "?", "b").Replace(e.name), "below."+e.name)
			if !e.except && !e.below && !e.wild && !hosts.Has(e.name, netip.Addr{}) &&
				!scan(all, e.name, netip.Addr{}, true) {
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

// scan compares a host with all entries, or with the exceptions.
func scan(all []host, requested string, literal netip.Addr, except bool) bool {
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
			if len(requested) <= maxName && matchPattern(e.name, requested) {
				return true
			}
		case e.name == requested, e.below && strings.HasSuffix(requested, "."+e.name):
			return true
		}
	}
	return false
}

// FuzzURLs parses lines, and compares look-ups with a scan of the entries.
func FuzzURLs(f *testing.F) {
	for _, line := range []string{
		"http://192.0.2.1:81/a", "example.org/a/b", "http://.example.org/a?b=c", "||example.org/a^$all",
		"@@|example.org/a^", "http://bücher.example/ä b",
		"http://[::1]/", "http://example.org/%2e%2E/a//b/", "http://a@b/c", "http:", "//", "a@b", "?", "http://.",
		"||^", "example.org/a/?",
	} {
		f.Add(line+"\nhttp://.example.org/a\n@@||example.org/a/b^\n", "/a/b/c", "b=c")
	}
	f.Fuzz(func(t *testing.T, content, path, query string) {
		urls, report, err := ParseURLs(strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		var all []url
		_, err = read(strings.NewReader(content), "#", func(line string) (int, error) {
			if isAdBlockComment(line) {
				return 0, nil
			}
			added, err := parseURLLine(line)
			if err == nil {
				all = append(all, added)
			}
			return 0, err
		})
		if err != nil || len(all) != report.Entries {
			t.Fatal(err, len(all), report.Entries)
		}
		for i := range all {
			e := &all[i]
			for _, name := range []string{e.host.name, "www." + e.host.name, "www.example.org"} {
				literal := e.host.literals.first
				if literal.IsValid() {
					name = literal.String()
				}
				for _, requested := range []string{e.path, e.path + "/b", e.path + "b", "/" + path, "/", "/a"} {
					for _, q := range []string{"", query, strings.TrimPrefix(e.query, "?")} {
						wanted := scanURLs(all, name, literal, requested, q, false) &&
							!scanURLs(all, name, literal, requested, q, true)
						if got := urls.Has(name, literal, requested, q); got != wanted {
							t.Errorf("%q %q %q: %v, not %v", name, requested, q, got, wanted)
						}
					}
				}
			}
		}
	})
}

// scanURLs compares a URL with all entries, or with the exceptions.
func scanURLs(all []url, name string, literal netip.Addr, path, query string, except bool) bool {
	for i := range all {
		e := &all[i]
		isHost := literal.IsValid() && e.host.literals.first == literal ||
			!literal.IsValid() && !e.host.literals.first.IsValid() &&
				(e.host.name == name || e.host.below && strings.HasSuffix(name, "."+e.host.name))
		rest, below := strings.CutPrefix(path, e.path)
		below = below && (rest == "" || rest[0] == '/' || strings.HasSuffix(e.path, "/"))
		if isHost && e.host.except == except &&
			(e.query == "" && below || e.query != "" && e.path == path && e.query == "?"+query) {
			return true
		}
	}
	return false
}

// FuzzNetworks parses lines, and compares look-ups with a scan of their ranges.
func FuzzNetworks(f *testing.F) {
	f.Add("192.0.2.0/24\n192.0.3.1-192.0.3.9\n192.0.3.5 - 192.0.4.0", "192.0.3.9")
	f.Add("2001:db8::/33\n2001:db8:8000::/33\n::ffff:192.0.2.0/120", "2001:db8::")
	f.Add("255.255.255.255\n::\n0.0.0.0", "::")
	f.Fuzz(func(t *testing.T, content, requested string) {
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
		if addr, err := netip.ParseAddr(requested); err == nil {
			tried = append(tried, addr)
		}
		for _, addr := range tried {
			if got := networks.Has(addr); got != (addr.IsValid() && scan(all, "", addr, false)) {
				t.Errorf("%s: %v", addr, got)
			}
		}
	})
}
