package adversary

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// location302 is the response of a namespace server for a known name.
const location302 = "HTTP/1.1 302 Found\r\nLocation: https://right.example/\r\nContent-Length: 0\r\n\r\n"

// vias are false Via fields about loops, also to the disadvantage of others (RFC 9110 section 7.6.3).
func (s *stage) vias() []payload {
	var payloads []payload
	add := func(name, section string, play func(context.Context) error) {
		payloads = append(payloads, payload{name: name, section: section, shows: name, play: play})
	}
	fields := map[string]string{
		"30 kB of Via": "Via: " +
			strings.TrimSuffix(strings.Repeat("1.1 a.example (some comment), ", 1000), ", "),
		"a Via of one word of 30 kB": "Via: 1.1 " + strings.Repeat("a", 30_000),
		"a traceparent": "Traceparent: 00-" + strings.Repeat("a", 32) + "-" + strings.Repeat("b", 16) +
			"-01",
		"30 kB of baggage":     "Baggage: a=" + strings.Repeat("b", 30_000),
		"a request identifier": "X-Request-Id: " + strings.Repeat("a", 30_000), "a cookie": "Cookie: evil=1",
		"no-cache": "Cache-Control: no-cache, evil=1",
	}
	for name, field := range fields {
		urn := "urn:held:" + s.id()
		s.origin.on("/uri-res/N2L?"+urn, respond(location302))
		add(name+" that others suffer from", "RFC 9110 section 7.6.3", func(ctx context.Context) error {
			return s.suffers(ctx, urn, field)
		})
	}
	for _, shape := range []string{
		"%s", "1.0 a, %s", "%s, 1.1 b", "1.1 a,%s,1.1 b", "%s  ",
		"1.1 urnd-a, 1.1 urnd-b, 1.1 urnd-c, 1.1 urnd-d",
	} {
		add(fmt.Sprintf("a loop: "+shape, "1.1 urnd-own"), "RFC 9110 section 7.6.3", func(ctx context.Context) error {
			target := "/p/" + s.id()
			if _, err := s.forwardTo(ctx, "http://"+s.origin.address+target); err != nil {
				return err
			}
			own := s.origin.saw(target).Header.Get("Via")
			if strings.Contains(shape, "%s") {
				shape = fmt.Sprintf(shape, own)
			}
			got, err := get(ctx, s.service, friend, "http://"+s.origin.address+target+"/again", "Via: "+shape)
			if err == nil && (got.status != 508 || s.origin.saw(target+"/again") != nil) {
				err = fmt.Errorf("it is answered %d", got.status)
			}
			return err
		})
	}
	return inFamily("via", payloads)
}

// suffers sends a request with a field from one client, and the same request from another: the server of the
// namespace must not receive the field of the first, and the other client must get its response.
func (s *stage) suffers(ctx context.Context, urn, field string) error {
	if _, err := get(ctx, s.service, stranger, "/"+urn, field); err != nil {
		return err
	}
	seen := s.origin.saw("/uri-res/N2L?" + urn)
	if seen == nil {
		return errors.New("the server of the namespace was not asked")
	}
	for name, values := range seen.Header {
		if text := strings.Join(values, ", "); len(text) > 500 || strings.Contains(text, "evil") {
			return fmt.Errorf("the server of the namespace got %s with %d bytes from one client: %.60q", name,
				len(text), text)
		}
	}
	got, err := get(ctx, s.service, friend, "/"+urn)
	if err == nil && got.header.Get("Location") != "https://right.example/" {
		err = fmt.Errorf("another client is answered %d", got.status)
	}
	return err
}
