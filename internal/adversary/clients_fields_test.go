package adversary

import (
	"net/http"
	"slices"
	"strings"
)

// Explicit freshness of the origin, and heuristic freshness (RFC 9111 sections 4.2.1 and 4.2.2).
var (
	explicit  = []string{"Cache-Control: max-age=600"}
	public    = []string{"Cache-Control: public, s-maxage=600, max-age=600"}
	heuristic = []string{"Last-Modified: Mon, 02 Jan 2023 00:00:00 GMT"}
)

// unlisted returns fields that affect the responses of some origins and that are not safelisted: responses to
// requests with them must not be shared.
func unlisted() []string {
	return []string{
		// as CGI, WSGI and PHP fold them
		"X_Forwarded_Host: evil.example", "X_HTTP_Method_Override: POST", "X_Original_URL: /admin",
		"SCRIPT_NAME: /evil", "PATH_INFO: /evil", "X-Forwarded_Proto: https",
		"X-Forwarded-Host: evil.example", "X-Forwarded-Protocol: https", "X-Forwarded-Proto: https",
		"X-Forwarded-Scheme: https", "X-Forwarded-Port: 4430", "X-Forwarded-Prefix: /evil",
		"X-Forwarded-Ssl: on", "X-Forwarded-Server: evil.example", "X-Forwarded-Path: /evil", "X-Forwarded-Uri: /evil",
		"X-Url-Scheme: https", "Front-End-Https: on",
		"X-Original-URL: /admin", "X-Rewrite-URL: /admin", "X-Original-Host: evil.example", "X-Host: evil.example",
		"X-HTTP-Host-Override: evil.example", "Proxy: http://evil.example",
		"X-HTTP-Method-Override: POST", "X-HTTP-Method: DELETE", "X-Method-Override: PUT",
		"X-Requested-With: XMLHttpRequest", "X-Api-Key: attacker", "X-Auth-Token: attacker", "X-User: attacker",
		"X-Api-Version: 1", "RSC: 1", "Next-Router-State-Tree: a", "X-Middleware-Subrequest: a", "X-Nextjs-Data: 1",
		"HX-Request: true", "X-PJAX: true", "X-Inertia: true", "Turbo-Frame: a",
		"Translate: f", "Depth: 1", "Content-Type: text/evil", "Content-Encoding: evil", "Cf-Connecting-Ip: 192.0.2.1",
		"X-Country: XX", "X-Anything-At-All: 1", "Bot: 1",
	}
}

// clientNames returns fields that name the client or its proxies. A forward proxy rejects them from untrusted
// clients.
func clientNames() []string {
	return []string{
		"X-Forwarded-For: 192.0.2.1", "X-Real-IP: 192.0.2.1", "X-Real_IP: 192.0.2.1", "True-Client-IP: 192.0.2.1",
		"Forwarded: for=192.0.2.1", "Forwarded: host=evil.example;proto=https", "Forwarded: by=evil",
	}
}

// withFields returns attacks by one field that affects the response although Vary does not name it.
func withFields() (all []attack) {
	const section = "RFC 9111 section 4.1"
	for _, field := range append(unlisted(), clientNames()...) {
		for name, freshness := range map[string][]string{"explicit": explicit, "heuristic": heuristic} {
			all = append(all, attack{
				name: field + ", " + name, section: section, site: site{fields: freshness},
				requests: []sending{{fields: []string{field}}},
			})
		}
	}
	slices.SortFunc(all, func(a, b attack) int { return strings.Compare(a.name, b.name) })
	// One field for every route, victim and moment.
	for _, m := range []moment{before, sharing, together} {
		for _, field := range []string{"X_Forwarded_Host: evil.example", "X-Anything-At-All: 1"} {
			all = append(all, attack{
				name: field + ", explicit", section: section,
				site: site{fields: explicit, gated: m == together, ignores: []string{"cookie"}}, moment: m,
				requests: []sending{{fields: []string{field}}}, ways: routes(), asks: shapes(),
			})
		}
	}
	return all
}

// withCookies returns attacks by Cookie and Set-Cookie (RFC 6265 section 4; RFC 9111 section 7.3).
func withCookies() []attack {
	cookie := []sending{{fields: []string{"Cookie: session=attacker"}}}
	sets := func(v *visit) (int, []string) {
		owner := "nobody"
		if v.isAttacker() {
			owner = "attacker"
		} else if v.isVictim() {
			owner = "victim"
		}
		return http.StatusOK, []string{"Set-Cookie: session=of-" + owner}
	}
	const section = "RFC 9111 section 7.3"
	asks := []shape{bare, logged, browser}
	return []attack{
		{
			name: "Cookie, heuristic", section: section, site: site{fields: heuristic}, requests: cookie, asks: asks,
			ways: []route{site1, siteH2, forward1},
		},
		{
			name: "Cookie, heuristic", section: section, site: site{fields: heuristic, gated: true}, requests: cookie,
			asks:   asks,
			moment: together,
		},
		{
			name: "Cookie that Vary names", section: section,
			site: site{fields: append([]string{"Vary: Cookie"}, explicit...)}, requests: cookie, asks: asks,
		},
		{name: "no freshness, Cookie", section: section, site: site{}, requests: cookie, asks: asks},
		{
			name: "Cookie with _", section: section, site: site{fields: heuristic},
			requests: []sending{{fields: []string{"Cookie_: session=attacker", "HTTP_COOKIE: a"}}}, asks: asks,
		},
		{
			name: "Set-Cookie, heuristic", section: section, site: site{fields: heuristic, reacts: sets},
			requests: []sending{{}}, asks: asks, ways: []route{site1, siteH2, forward1},
		},
		{
			name: "Set-Cookie, heuristic", section: section, site: site{fields: heuristic, reacts: sets, gated: true},
			requests: []sending{{}}, moment: together,
		},
		{
			name: "Set-Cookie, explicit", section: section,
			site: site{fields: explicit, reacts: sets, ignores: []string{"cookie"}}, requests: []sending{{}},
			asks: asks, setsCookie: true, ways: []route{site1, siteH2, forward1},
		},
		{
			name: "Set-Cookie, explicit", section: section, site: site{fields: explicit, reacts: sets, gated: true},
			requests: []sending{{}}, moment: together, setsCookie: true,
		},
	}
}

// withCredentials returns attacks by credentials (RFC 9111 section 3.5).
func withCredentials() (all []attack) {
	for _, field := range []string{
		"Authorization: Basic YXR0YWNrZXI6YQ==", "Authorization: Bearer attacker", "X-Authorization: attacker",
		"Authorization_: attacker",
	} {
		for _, m := range []moment{before, together} {
			for name, freshness := range map[string][]string{"explicit": explicit, "heuristic": heuristic} {
				all = append(all, attack{
					name: field + ", " + name, section: "RFC 9111 section 3.5",
					site: site{fields: freshness, gated: m == together}, requests: []sending{{fields: []string{field}}},
					moment: m, asks: []shape{bare, logged},
				})
			}
		}
	}
	return all
}

// safelistedRequests returns requests of the attacker after which the victim must get the stored response: a
// cache that shares nothing would survive all other attacks.
func safelistedRequests() (all []attack) {
	for _, fields := range [][]string{
		nil, browser.fields,
		{"Accept-Language: evil"},
		{"Referer: http://evil.example/"},
		{"Accept-Encoding: gzip"},
		{"DNT: 1"},
		{"Sec-CH-UA: evil"},
		{"Sec-GPC: 1"},
		{"Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
		{"Priority: u=1"},
		{"Cache-Control: max-age=0"},
		{"Pragma: no-cache"},
		{"If-None-Match: \"other\""},
	} {
		all = append(all, attack{
			name: "harmless " + strings.Join(fields, ", "), section: "RFC 9111 section 4", site: site{fields: public},
			requests: []sending{{fields: fields}}, shares: true, asks: []shape{bare, browser},
			ways: []route{site1, siteH2, forward1},
		})
	}
	return all
}
