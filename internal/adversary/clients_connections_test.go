package adversary

import (
	"net/http"
	"strings"
)

// withConnections returns attacks by state bound to a connection (RFC 4559 section 6).
func withConnections() (all []attack) {
	binds := site{own: func(v *visit) bool {
		scheme, token, _ := strings.Cut(v.Header.Get("Authorization"), " ")
		if (strings.EqualFold(scheme, "NTLM") || strings.EqualFold(scheme, "Negotiate")) && token != "" {
			v.conn.identity = "alice"
		}
		if v.conn.identity == "" {
			return v.respond(
				http.StatusUnauthorized, []string{"WWW-Authenticate: NTLM", "WWW-Authenticate: Negotiate"},
				"who are you?",
			)
		}
		return v.respond(http.StatusOK, []string{"Cache-Control: no-cache"}, "you are "+v.conn.identity)
	}}
	for _, scheme := range []string{"NTLM", "Negotiate", "ntlm"} {
		token := sending{fields: []string{"Authorization: " + scheme + " dG9rZW4="}}
		all = append(all, attack{
			name: scheme, section: "RFC 4559 section 6", site: binds, alone: true, asks: []shape{bare, logged},
			ways: []route{site1, siteTLS, siteH2, forward1}, requests: []sending{token, token},
		})
	}
	// An origin whose Connection names Cache-Control does not thereby revoke the content of that field.
	for _, control := range []string{"no-store", "private"} {
		hides := site{
			fields: append([]string{"Connection: keep-alive, Cache-Control", "Cache-Control: " + control},
				heuristic...),
			reacts: func(v *visit) (int, []string) { return http.StatusOK, []string{"X-Agent: " + v.UserAgent()} },
		}
		all = append(all, attack{
			name: "Connection: Cache-Control of an origin, " + control, section: "RFC 9111 section 3.1", site: hides,
			requests: []sending{{}}, ways: []route{site1, forward1},
		})
	}
	// Fields that a client names in Connection are not forwarded and have no effect then: RFC 9110 section
	// 7.6.1.
	for _, name := range []string{"Cookie", "X-Evil", "Host", "Cache-Control", "User-Agent", "Via", "Content-Length"} {
		all = append(all, attack{
			name: "Connection: " + name, section: "RFC 9110 section 7.6.1", site: site{fields: heuristic},
			requests: []sending{{fields: []string{
				"Connection: keep-alive, " + name, "Cookie: session=attacker",
				"X-Evil: 1",
			}}},
			asks: []shape{bare, logged}, ways: []route{site1, forward1},
		})
	}
	return all
}
