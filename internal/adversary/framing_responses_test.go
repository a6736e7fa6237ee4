package adversary

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// response is the response of a hostile origin.
type response struct {
	name, section, bytes string
	// passed is set if it may be forwarded; otherwise the response is 502.
	passed bool
}

// responses converts responses to payloads: a client requests it, followed by another page.
func (s *stage) responses() []payload {
	var payloads []payload
	for _, r := range hostileResponses() {
		id := s.id()
		s.origin.on("/p/"+id, respond(r.bytes))
		payloads = append(payloads,
			payload{name: r.name, section: r.section, shows: r.bytes, play: func(ctx context.Context) error {
				base := "http://" + s.origin.address
				data := "GET " + base + "/p/" + id + " HTTP/1.1\r\nHost: a\r\n\r\nGET " + base + "/marker/" + id +
					" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
				got, err := converse(ctx, s.service, friend, data)
				if err != nil {
					return err
				}
				if err := r.allows(got); err != nil {
					return fmt.Errorf("%w: urnd answered %s", err, summary(got))
				}
				return nil
			}})
	}
	return inFamily("responses of origins", payloads)
}

// allows returns an error unless urnd may respond to a client with got.
func (r response) allows(got []reply) error {
	switch {
	case len(got) > 2:
		return errors.New("more responses than requests")
	case len(got) == 0 && !r.passed:
		return errors.New("it must be answered 502")
	case len(got) > 0 && got[0].status != 502 && (!r.passed || got[0].status == 500):
		return errors.New("it must be answered 502")
	case slices.ContainsFunc(got, func(r reply) bool {
		return r.status < 400 && strings.Contains(r.body, "evil") || r.header.Get("Evil") != ""
	}):
		return errors.New("a second response was passed on")
	case len(got) == 2 && (got[1].status != 200 || got[1].body != "yes"):
		return errors.New("the next response is not the right one")
	default:
		return nil
	}
}

// hostileResponses violate RFC 9112 sections 4 to 8, or are unsolicited.
func hostileResponses() []response {
	const fields = "Content-Type: text/plain\r\n"
	const end = fields + "Content-Length: 2\r\n\r\nok"
	const evil = "HTTP/1.1 200 OK\r\nEvil: 1\r\nContent-Length: 4\r\n\r\nevil"
	var all []response
	add := func(name, section, data string, passed bool) {
		all = append(all, response{name, section, data, passed})
	}
	for _, status := range []string{
		"000", "001", "042", "099", "1000", "99999", "-1", "2OO", "20", "2", "", "2000",
		"+200", "0x0", "200.0",
	} {
		add("status "+status, "RFC 9110 section 15", "HTTP/1.1 "+status+" X\r\n"+end, status == "20" || status == "2")
	}
	for _, status := range []string{"600", "700", "999"} {
		add("status "+status, "RFC 9110 section 15", "HTTP/1.1 "+status+" X\r\n"+end, true)
	}
	add("101 that nobody asked for", "RFC 9110 section 15.2.2",
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: evil\r\n\r\n"+evil, false)
	add("101 without Upgrade", "RFC 9110 section 15.2.2", "HTTP/1.1 101 Switching Protocols\r\n\r\n"+evil, false)
	add("interim responses without end", "RFC 9110 section 15.2",
		strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 500)+"HTTP/1.1 200 OK\r\n"+end, true)
	add("early hints with CRLF", "RFC 8297",
		"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\n"+end, true)
	add("a second response", "RFC 9112 section 6.3", "HTTP/1.1 200 OK\r\n"+end+evil, true)
	add("a second response behind 304", "RFC 9110 section 15.4.5", "HTTP/1.1 304 Not Modified\r\n\r\n"+evil, true)
	add("a second response behind 204", "RFC 9110 section 15.3.5",
		"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n"+evil, true)
	for _, length := range []string{
		"-1", "x", "2, 3", "+2", "0x2", "99999999999999999999", "2\r\nContent-Length: 3",
		"1\r\nContent-Length: 99", "",
	} {
		add(fmt.Sprintf("Content-Length: %q", length), "RFC 9112 section 6.3",
			"HTTP/1.1 200 OK\r\n"+fields+"Content-Length: "+length+"\r\n\r\nok", length == "")
	}
	for _, coding := range []string{
		"gzip", "identity", "chunked, chunked", "xchunked",
		"chunked\r\nTransfer-Encoding: gzip", "\x0bchunked",
	} {
		add(fmt.Sprintf("Transfer-Encoding: %q", coding), "RFC 9112 section 6.1",
			"HTTP/1.1 200 OK\r\n"+fields+"Transfer-Encoding: "+coding+"\r\n\r\n2\r\nok\r\n0\r\n\r\n", false)
	}
	add("both lengths", "RFC 9112 section 6.3",
		"HTTP/1.1 200 OK\r\n"+fields+"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"+evil,
		true)
	for _, body := range []string{
		"-2\r\nok\r\n0\r\n\r\n", "x\r\nok", "ffffffffffffffffff\r\nok", "2\r\nokXX0\r\n\r\n", "2\r\nok\r\n",
		"2;" + strings.Repeat("a", 9000) + "\r\nok\r\n0\r\n\r\n", "2\r\nok\r\n0\r\nEvil: 1\r\n\r\n",
	} {
		add(fmt.Sprintf("chunks %.20q", body), "RFC 9112 section 7.1",
			"HTTP/1.1 200 OK\r\n"+fields+"Transfer-Encoding: chunked\r\n\r\n"+body, true)
	}
	for _, line := range []string{
		"X Y: z", ": z", "X", "X: a\x00b", "X\x00: b", "X : y", " X: y", "(: y",
		strings.Repeat("a", 300<<10) + ": b",
	} {
		add(fmt.Sprintf("field %.20q", line), "RFC 9112 section 5",
			"HTTP/1.1 200 OK\r\n"+fields+line+"\r\nContent-Length: 2\r\n\r\nok",
			line == " X: y" || line == "X : y" || line == "X Y: z" || line == "(: y")
	}
	for _, line := range []string{
		"", "HTTP/1.1", "HTTP/9.9 200 OK", "HTTP/2.0 200 OK", "ICY 200 OK", "<html>evil</html>", "200 OK",
		"\x00\x00\x12\x04", "SSH-2.0-x", "220 mail ESMTP", "HTTP/1.1\t200\tOK", "HTTP/1.1 200\x00OK",
	} {
		add(fmt.Sprintf("status line %.20q", line), "RFC 9112 section 4", line+"\r\n"+end,
			line == "HTTP/1.1 200\x00OK" || strings.HasPrefix(line,
				"HTTP/9") || strings.HasPrefix(line, "HTTP/2"))
	}
	add("HTTP/0.9", "RFC 1945 section 1.1", "evil", false)
	add("nothing", "RFC 9112 section 9.3", "", false)
	return all
}
