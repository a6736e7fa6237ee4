package adversary

import (
	"net/http"
	"strconv"
	"strings"
)

// withErrors returns attacks that make an origin reject the attacker's request with a fresh response (RFC 9111
// section 3).
func withErrors() (all []attack) {
	const section = "RFC 9111 section 3"
	// fails is a site that responds to requests it rejects with an error that is fresh for ten minutes.
	fails := func(status int, dislikes func(v *visit) bool) site {
		return site{
			fields: explicit, ignores: []string{"cookie", "content-type"},
			reacts: func(v *visit) (int, []string) {
				if dislikes(v) {
					return status, nil
				}
				return http.StatusOK, nil
			},
		}
	}
	longer := func(name string, most int) func(*visit) bool {
		return func(v *visit) bool { return len(v.Header.Get(name)) > most }
	}
	add := func(name string, s site, r sending) {
		all = append(all, attack{
			name: name, section: section, site: s, requests: []sending{r},
			asks: []shape{bare, logged},
		})
	}
	long := strings.Repeat("a", 9000)
	cookie, agent, accept := "Cookie: a="+long, "User-Agent: "+attackerAgent+long, "Accept-Language: "+long
	for _, status := range []int{400, 403, 404, 405, 410, 413, 414, 431, 500, 501} {
		text := strconv.Itoa(status)
		add(text+" to a Cookie of 9 kB", fails(status, longer("Cookie", 8192)), sending{fields: []string{cookie}})
		add(text+" to a User-Agent of 9 kB", fails(status, longer("User-Agent", 8192)),
			sending{fields: []string{agent}})
		add(text+" to an Accept-Language of 9 kB", fails(status, longer("Accept-Language", 8192)),
			sending{fields: []string{accept}})
		add(text+" to content", fails(status, func(v *visit) bool { return v.content != "" }), sending{body: "evil"})
	}
	isAttacker := (*visit).isAttacker
	for _, status := range []int{408, 421, 425, 429, 431} {
		add(strconv.Itoa(status)+" to the attacker", fails(status, isAttacker), sending{})
	}
	for _, field := range []string{"Range: bytes=99999-", "Range: bytes=99999-99999", "Range: bytes=99999-,999999-"} {
		add(
			"416 to "+field, fails(416, func(v *visit) bool {
				return strings.Contains(v.Header.Get("Range"), "99999")
			}),
			sending{fields: []string{field}},
		)
	}
	for _, field := range []string{
		"If-Match: \"other\"", "If-Unmodified-Since: Mon, 02 Jan 2006 15:04:05 GMT", "If-Range: \"other\"",
		"Expect: other",
	} {
		for _, status := range []int{404, 412, 417} {
			name, _, _ := strings.Cut(field, ":")
			add(
				strconv.Itoa(status)+" to "+field,
				fails(status, func(v *visit) bool { return v.Header.Get(name) != "" }),
				sending{fields: []string{field}},
			)
		}
	}
	replaced := fails(416, func(v *visit) bool { return v.Header.Get("Range") == "bytes=99999-" })
	all = append(all, attack{
		name: "416 over what is stored", section: "RFC 9110 section 15.5.17", site: replaced,
		asks: []shape{bare, ranged, conditional}, ways: []route{site1, siteH2, forward1},
		requests: []sending{{}, {fields: []string{"Range: bytes=99999-", "Cache-Control: no-cache"}}},
	})
	return all
}

// withRanges returns attacks that leave a partial response (RFC 9110 section 14).
func withRanges() (all []attack) {
	for _, field := range []string{
		"Range: bytes=0-4", "Range: bytes=5-9", "Range: bytes=-5", "Range: bytes=0-0,4-4", "Range: lines=1-2",
		"Range: bytes=0-99999999999999999999",
	} {
		for _, m := range []moment{before, together} {
			all = append(all, attack{
				name: field, section: "RFC 9111 section 3.3",
				site:     site{fields: explicit, size: 4096, gated: m == together},
				moment:   m,
				requests: []sending{{fields: []string{field}}}, asks: []shape{bare, ranged, conditional},
			})
		}
	}
	return all
}

// withHosts returns attacks by spellings of the host (RFC 9110 section 4.2.3, RFC 3986 section 6.2) on an
// origin that repeats it in a redirect.
func withHosts() (all []attack) {
	carries := site{fields: explicit, reacts: func(v *visit) (int, []string) {
		return http.StatusMovedPermanently, []string{"Location: http://" + v.Host + "/next"}
	}}
	const section = "RFC 9110 section 4.2.3"
	add := func(name string, way route, r sending) {
		for _, m := range []moment{before, together} {
			s := carries
			s.gated = m == together
			all = append(all, attack{
				name: name, section: section, site: s, moment: m, requests: []sending{r},
				ways: []route{way},
			})
		}
	}
	for _, host := range []string{
		"{host}:80", "{host}:080", "{host}:0080", "{host}:", "{HOST}", "{host}.",
		"{HOST}:80",
	} {
		add("Host "+host, site1, sending{host: host})
		add("a target with "+host, site1, sending{host: host, target: "http://" + host + "{path}"})
		add("a target with "+host+" and another Host", site1,
			sending{host: "evil.example", target: "http://" + host + "{path}"})
		add("Host "+host+" and a target of the site", site1, sending{host: host, target: "http://{host}{path}"})
	}
	for _, target := range []string{
		"http://{HOST}{path}", "HTTP://{host}{path}", "http://evil@{host}{path}",
		"http://{host}.{path}",
	} {
		add("a target "+target, forward1, sending{target: target, host: "{host}"})
		add("a target "+target+" and another Host", forward1, sending{target: target, host: "evil.example"})
	}
	add("another Host", forward1, sending{target: "http://{host}{path}", host: "evil.example"})
	add("an upper-case Host", forward1, sending{target: "http://{host}{path}", host: "{HOST}"})
	for _, host := range []string{"{host}:443", "{host}:0443", "{HOST}", "{host}:"} {
		add(":authority "+host, siteH2, sending{host: host})
	}
	add("a Host beside :authority", siteH2, sending{fields: []string{"Host: evil.example"}})
	return all
}

// withSpellings returns attacks by spellings of the path (RFC 3986 section 6.2.2) on an origin that repeats it
// in a redirect.
func withSpellings() (all []attack) {
	carries := site{fields: explicit, reacts: func(v *visit) (int, []string) {
		return http.StatusMovedPermanently, []string{"Location: http://" + v.Host + v.RequestURI + "/next"}
	}}
	for _, m := range []moment{before, together} {
		s := carries
		s.gated = m == together
		for target, ways := range map[string][]route{
			"{encoded}":              {site1, siteH2},
			"http://{host}{encoded}": {site1, forward1},
		} {
			all = append(all, attack{
				name: "the target " + target, section: "RFC 9110 section 4.2.3", site: s, moment: m,
				requests: []sending{{target: target}}, ways: ways,
			})
		}
	}
	return all
}

// withMethods returns attacks by methods and content (RFC 9110 section 9, RFC 9111 section 4).
func withMethods() (all []attack) {
	const section = "RFC 9110 section 9"
	for _, freshness := range [][]string{explicit, heuristic} {
		for _, r := range []sending{
			{body: "evil"},
			{method: "HEAD", fields: []string{"X_Forwarded_Host: evil.example"}},
			{method: "POST", body: "evil"},
			{method: "PUT", body: "evil"},
			{method: "get"},
			{method: "OPTIONS"},
			{method: "QUERY", body: "evil"},
			{method: "PATCH", body: "evil"},
			{method: "FOO"},
		} {
			r.fields = append(r.fields, "X-Evil: 1")
			all = append(all, attack{
				name: r.method + " with " + strings.Join(r.fields, ", ") + ", " + freshness[0], section: section,
				site: site{fields: freshness}, requests: []sending{r},
			})
		}
		all = append(all, attack{
			name: "GET with content, " + freshness[0], section: section, site: site{fields: freshness},
			requests: []sending{{body: "evil"}}, ways: routes(), asks: []shape{bare, browser},
		})
	}
	// According to the origin, the response to POST is that to GET, but not that to a field.
	located := site{fields: explicit, own: func(v *visit) bool {
		text := v.echo()
		text = strings.ReplaceAll(strings.ReplaceAll(text, "method POST", "method GET"), "content "+v.content,
			"content ")
		return v.respond(200, append([]string{"Content-Location: " + v.RequestURI}, v.site.fields...), text)
	}, ignores: []string{"content-type"}}
	for _, field := range []string{"X-Evil: 1", "X_Forwarded_Host: evil.example"} {
		all = append(all, attack{
			name: "POST with Content-Location and " + field, section: "RFC 9110 section 9.3.3", site: located,
			requests: []sending{{method: "POST", body: "a", fields: []string{field}}}, asks: []shape{bare, browser},
		})
	}
	cookie := located
	cookie.fields = heuristic
	all = append(all, attack{
		name: "POST with Content-Location, Cookie and no freshness", section: "RFC 9110 section 9.3.3", site: cookie,
		requests: []sending{{method: "POST", body: "a", fields: []string{"Cookie: session=attacker"}}},
	})
	// Methods that invalidate stored responses cause a request, and change nothing else.
	all = append(all, attack{
		name: "PUT and DELETE of what is stored", section: "RFC 9111 section 4.4", site: site{fields: explicit},
		requests: []sending{{}, {method: "PUT", body: "evil"}, {method: "DELETE"}},
	})
	return all
}
