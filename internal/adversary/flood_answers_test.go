package adversary

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"strings"
)

// answersTooLarge are responses of servers that are too long to store or to forward (CWE-770): a location has
// at most 8 KiB, and an answer 256 KiB.
func (s *stage) answersTooLarge() []payload {
	var payloads []payload
	add := func(name, service, response string, most int) {
		for i := range 64 {
			s.origin.on(fmt.Sprintf("/uri-res/%s?urn:held:%s%d", service, token(name), i), respond(response))
		}
		p := payload{name: "64 times " + name, section: "RFC 2169 section 3"}
		payloads = append(payloads, s.alone(p, func(ctx context.Context, d *daemon) error {
			var wrong tally
			many(64, func(i int) {
				got, err := get(ctx, d.service, fmt.Sprintf("127.0.1.%d", i+1),
					fmt.Sprintf("/uri-res/%s?urn:held:%s%d", service, token(name), i))
				switch {
				case err != nil || got.status == 500:
					wrong.add(fmt.Sprintf("%d, %v", got.status, err))
				case len(got.header.Get("Location")) > 8<<10 || got.status < 400 && len(got.body) > most:
					wrong.add(fmt.Sprintf("%d with a location of %d bytes and a body of %d", got.status,
						len(got.header.Get("Location")), len(got.body)))
				}
			})
			if wrong.sum("") > 0 {
				return errors.New(wrong.String())
			}
			return d.below(300)
		}))
	}
	long := "http://a.example/" + strings.Repeat("a", 9000)
	redirect := func(location string) string {
		return "HTTP/1.1 302 Found\r\nLocation: " + location + "\r\nContent-Length: 0\r\n\r\n"
	}
	list := func(fields, body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/uri-list\r\n%sContent-Length: %d\r\n\r\n%s", fields,
			len(body), body)
	}
	const most = 300 << 10 // including the surrounding text
	add("a location of 9 kB", "N2L", redirect(long), most)
	add("a location of 200 kB", "N2L", redirect("http://a.example/"+strings.Repeat("a", 200_000)), most)
	add("a list of one long location", "N2Ls", list("", long+"\r\n"), most)
	add("a list of 100 locations of 8 kB", "N2Ls", list("", strings.Repeat(long[:8000]+"\r\n", 100)), most)
	add("a list of 100 000 locations", "N2Ls", list("", strings.Repeat("http://a/\r\n", 90_000)), most)
	add("a list of 100 000 lines that are no URIs", "N2Ls", list("", strings.Repeat("\xff\r\n", 300_000)), most)
	add("a list that says it is 100 GB", "N2Ls",
		"HTTP/1.1 200 OK\r\nContent-Type: text/uri-list\r\nContent-Length: 100000000000\r\n\r\nhttp://a/\r\n", most)
	add("a list of 50 MB in gzip", "N2Ls", list("Content-Encoding: gzip\r\n", compressed(50_000_000)), most)
	add("gzip in gzip", "N2Ls", list("Content-Encoding: gzip, gzip\r\n", compressed(1000)), most)
	add("a description of 1 MB", "N2C",
		fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000000\r\n\r\n%s",
			strings.Repeat("a", 1_000_000)), most)
	add("a description of invalid UTF-8", "N2C",
		fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50000\r\n\r\n%s",
			strings.Repeat("\xff", 50_000)), most)
	return inFamily("large answers", payloads)
}

// token converts a text to a part of a name.
func token(text string) string { return strings.ReplaceAll(text, " ", "-") }

// compressed returns n bytes of a list, compressed.
func compressed(n int) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte("http://a.example/\r\n#"))
	_, _ = w.Write(bytes.Repeat([]byte("a"), n))
	_ = w.Close()
	return b.String()
}
