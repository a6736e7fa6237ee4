package adversary

import "fmt"

// forwardedClients are fields that name another client. Only a trusted proxy may name one, and only by the hop
// that it has added itself (RFC 7239 section 8.1).
func (s *stage) forwardedClients() []payload {
	var all []claim
	add := func(name, from string, want int, fields ...string) {
		all = append(all, claim{
			name: name, section: "RFC 7239 section 8.1", from: from, target: privileged,
			fields: fields, want: want,
		})
	}
	add("a client with the right", friend, 302)
	add("a client without it", stranger, 403)
	for _, field := range []string{
		"X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: 127.0.0.1, 127.0.0.3", "x-forwarded-for: 127.0.0.1",
		"X-Forwarded-For:127.0.0.1", "X-Forwarded-For: ::1", "X-Forwarded-For: [::1]:1", "X-Forwarded-For: localhost",
		"X-Forwarded-For: ", "Forwarded: for=127.0.0.1", "Forwarded: for=\"[::1]\"",
		"Forwarded: For=127.0.0.1;by=127.0.0.3;host=127.0.0.1;proto=https",
		"Forwarded: for=127.0.0.1, for=127.0.0.3",
		"X-Real-IP: 127.0.0.1", "True-Client-IP: 127.0.0.1", "CF-Connecting-IP: 127.0.0.1", "Client-IP: 127.0.0.1",
		"X-Client-IP: 127.0.0.1", "X-Originating-IP: 127.0.0.1", "X-Remote-IP: 127.0.0.1", "X-Remote-Addr: 127.0.0.1",
		"X-Cluster-Client-IP: 127.0.0.1", "Fastly-Client-IP: 127.0.0.1", "X-ProxyUser-Ip: 127.0.0.1",
		"X-Host: 127.0.0.1", "X-Forwarded-Host: 127.0.0.1", "X-Original-URL: /", "X-Rewrite-URL: /",
		"X-Forwarded-Server: 127.0.0.1", "X-Forwarded-Proto: https", "X-Custom-IP-Authorization: 127.0.0.1",
		"X_Forwarded_For: 127.0.0.1", "Via: 1.1 127.0.0.1",
		"From: root@127.0.0.1", "Referer: http://127.0.0.1/", "Authorization: Basic cm9vdDo=",
		"Proxy-Authorization: Basic cm9vdDo=",
	} {
		add("a stranger with "+field, stranger, 403, field)
	}
	for _, field := range []string{
		"X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "X-Forwarded-For: ",
		"Forwarded: ",
	} {
		add("behind a proxy that is not trusted, "+field, friend, 403, field)
	}
	add("a trusted proxy names a client with the right", relay, 302, "X-Forwarded-For: 127.0.0.1")
	add("a trusted proxy names one by Forwarded", relay, 302, "Forwarded: for=127.0.0.1")
	for _, fields := range [][]string{
		{"X-Forwarded-For: 127.0.0.1, 127.0.0.2"},
		{"X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: 127.0.0.2"},
		{"X-Forwarded-For: 127.0.0.2", "Forwarded: for=127.0.0.1"},
		{"X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.2"},
		{"X-Forwarded-For: 127.0.0.1, 127.0.0.2, 127.0.0.3"},
		{"X-Forwarded-For: 127.0.0.1,"},
		{"X-Forwarded-For: ,127.0.0.1,"},
		{"X-Forwarded-For: 127.0.0.1, unknown"},
		{"X-Forwarded-For: unknown"},
		{"X-Forwarded-For: 127.1"},
		{"X-Forwarded-For: 2130706433"},
		{"X-Forwarded-For: 127.0.0.1 127.0.0.2"},
		{"X-Forwarded-For: 127.0.0.1;127.0.0.2"},
		{"X-Forwarded-For: 127.0.0.1:"},
		{"X-Forwarded-For: 127.0.0.1:x"},
		{"X-Forwarded-For: \"127.0.0.1\""},
		{"X-Forwarded-For: 0x7f.0.0.1"},
		{"X-Forwarded-For: ::ffff:127.0.0.2"},
		{"Forwarded: for=127.0.0.1, for=127.0.0.2"},
		{"Forwarded: for=127.0.0.1", "Forwarded: for=127.0.0.2"},
		{"Forwarded: for=127.0.0.1;for=127.0.0.2"},
		{"Forwarded: for=127.0.0.2;host=\"a, for=127.0.0.1\""},
		{"Forwarded: host=\"a;for=127.0.0.1\""},
		{"Forwarded: for=\"127.0.0.1\\\"\""},
		{"Forwarded: for=unknown"},
		{"Forwarded: for=_hidden"},
		{"Forwarded: by=127.0.0.1"},
		{"Forwarded: for=127.0.0.1, by=127.0.0.3"},
		{"Forwarded: for=\"127.0.0.1"},
		{"Forwarded: for = 127.0.0.1"},
		{"Forwarded: =127.0.0.1"},
		{"Forwarded: for=127.0.0.1, x"},
		{},
	} {
		add(fmt.Sprintf("a trusted proxy with %.70q", fields), relay, 403, fields...)
	}
	return s.claims("names of clients", s.serviceAddress, all)
}
