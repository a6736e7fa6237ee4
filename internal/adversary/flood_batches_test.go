package adversary

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// batches are batches with too many, too long or invalid names (CWE-770).
func (s *stage) batches() []payload {
	const size = 15_000_000
	var payloads []payload
	add := func(name, kind string, n int, body func() string) {
		p := payload{name: fmt.Sprintf("%d posts of %s", n, name), section: "CWE-770"}
		payloads = append(payloads, s.alone(p, func(ctx context.Context, d *daemon) error {
			text := body()
			var outcomes tally
			many(n, func(int) {
				outcomes.note(ask(ctx, d.service, stranger, "POST", "/api/v1/resolve", text, "Content-Type: "+kind))
			})
			if bad := outcomes.sum("5") - outcomes.sum("503"); bad > 0 || outcomes.sum("error") > 0 {
				return fmt.Errorf("they are answered %s", &outcomes)
			}
			return d.below(400)
		}))
	}
	add("15 MB of one string that is not UTF-8", "application/json", 8,
		func() string { return `["` + strings.Repeat("\xff", size) + `"]` })
	add("15 MB of one string", "application/json", 8,
		func() string { return `["urn:a1:` + strings.Repeat("a", size) + `"]` })
	add("15 MB of escapes", "application/json", 8,
		func() string { return `["` + strings.Repeat(`\u0000`, size/6) + `"]` })
	add("15 MB of one line", "text/plain", 8, func() string { return "urn:a1:" + strings.Repeat("a", size) })
	add("15 MB of one comment", "text/uri-list", 8, func() string { return "#" + strings.Repeat("\xff", size) })
	add("15 MB of white space", "application/json", 8,
		func() string { return strings.Repeat(" ", size) + `["urn:a1:b"]` })
	add("15 MB of brackets", "application/json", 8, func() string { return strings.Repeat("[", size) })
	add("15 MB of one number", "application/json", 8, func() string { return "[" + strings.Repeat("1", size) + "]" })
	add("10 000 invalid names of 1500 bytes", "application/json", 8, func() string {
		return `["` + strings.TrimSuffix(strings.Repeat(strings.Repeat("\x7f", 1500)+`","`, 10_000), `","`) + `"]`
	})
	add("17 MB", "application/json", 2, func() string { return `["` + strings.Repeat("a", 17_000_000) + `"]` })
	accounted := payload{name: "names of all kinds, each with a line", section: "RFC 2483 section 4"}
	payloads = append(payloads, s.alone(accounted, s.accounts))
	return inFamily("batches", payloads)
}

// accounts sends valid and invalid names, and returns an error unless the response has one line for each, in
// order, that repeats at most 1 KiB of an invalid name.
func (s *stage) accounts(ctx context.Context, d *daemon) error {
	names := []string{
		"urn:ietf:rfc:1", strings.Repeat("x", 5000), "urn:ietf:rfc:2", strings.Repeat("a:", 60_000), "", " ",
		"urn:ietf:rfc:3", "urn:a1:" + strings.Repeat("b", 100_000), "urn:ietf:rfc:4",
	}
	for form, body := range map[string]string{
		"application/json":        `["` + strings.Join(names, `","`) + `"]`,
		"application/json; lines": `"` + strings.Join(names, "\"\n\"") + `"`,
	} {
		got, err := ask(ctx, d.service, stranger, "POST", "/api/v1/resolve", body, "Content-Type: "+form)
		if err != nil {
			return err
		}
		lines := strings.Split(strings.TrimSpace(got.body), "\n")
		if got.status != 200 || len(lines) != len(names) {
			return fmt.Errorf("%d names are answered %d with %d lines: %.300q", len(names), got.status,
				len(lines), got.body)
		}
		for i, line := range lines {
			if good := strings.HasPrefix(names[i], "urn:ietf:"); good != strings.Contains(line, `"locations"`) {
				return fmt.Errorf("the line of %.40q is %.200q", names[i], line)
			}
			if len(line) > 3000 {
				return fmt.Errorf("the line of a bad name of %d bytes has %d", len(names[i]), len(line))
			}
		}
	}
	return errors.Join(d.below(400))
}
