package adversary

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// outcome is the permitted result of a request.
type outcome int

const (
	// refused: 4xx, 501, 505, or a closed connection; nothing after it is answered, since its end is unknown.
	refused outcome = iota
	// declined: it is rejected, but its end is known, so later requests may be answered.
	declined
	// answered: it is legal, and so are later requests.
	answered
	// standalone: it is answered, and the connection is closed.
	standalone
	// either: recipients may reject or answer it, but must not see another request in it.
	either
)

// request is an HTTP/1.1 payload. In its bytes, {o} is the address of the origin, {id} is unique, and
// {smuggled} a request that is only seen if another one is misinterpreted.
type request struct {
	name, section, bytes string
	want                 outcome
}

// framing are requests, and responses of origins, with ambiguous boundaries.
func framing(s *stage) []payload {
	return slices.Concat(
		s.requests("request line", requestLines()),
		s.requests("field lines", fieldLines()),
		s.requests("host", hosts()),
		s.requests("content length", contentLengths()),
		s.requests("transfer codings", transferCodings()),
		s.requests("chunks", chunks()),
		s.requests("connection options", connectionOptions()),
		s.lastHops(),
		s.blamed(),
		s.withHTTP2(),
		s.responses(),
	)
}

// cached is answered from a cache if it was requested before. The end of such a request is determined by a
// different code path than that of others.
const cached = "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: localhost\r\n\r\n"

// requests converts requests to payloads: each is sent first on a connection, and after a cached one.
func (s *stage) requests(family string, all []request) []payload {
	var payloads []payload
	for _, r := range all {
		for _, before := range []string{"", cached} {
			id, name, want := s.id(), r.name, r.want
			if before != "" {
				name += ", behind a cached answer"
				// urnd does not know all of the data that arrives with the previous request, and closes its
				// connection.
				if strings.Contains(r.bytes, "Transfer-Encoding: chunked") && want != refused ||
					strings.Contains(r.bytes, "HTTP/1.0") {
					want = either
				}
			}
			data := strings.NewReplacer("{smuggled}",
				"GET http://{o}/smuggled/{id} HTTP/1.1\r\nHost: {o}\r\n\r\n").Replace(r.bytes)
			data = strings.NewReplacer("{o}", s.origin.address, "{id}", id).Replace(data)
			payloads = append(payloads, payload{
				name: name, section: r.section, shows: before + data,
				play: func(ctx context.Context) error { return s.judgeRequest(ctx, before, data, id, want) },
			})
		}
	}
	return inFamily(family, payloads)
}

// judgeRequest sends a request followed by a marker: a legal request that only reaches the origin if urnd
// considers the first one complete. before is cached, or "".
func (s *stage) judgeRequest(ctx context.Context, before, data, id string, want outcome) error {
	marker := "GET http://" + s.origin.address + "/marker/" + id + " HTTP/1.1\r\nHost: " + s.origin.address +
		"\r\nConnection: close\r\n\r\n"
	method, _, _ := strings.Cut(data, " ")
	methods := []string{method}
	if before != "" {
		methods = []string{"GET", method}
	}
	got, err := converse(ctx, s.service, friend, before+data+marker, methods...)
	if err != nil {
		return err
	}
	if before != "" {
		if len(got) == 0 || got[0].status != 302 {
			return fmt.Errorf("the cached response was answered %s", summary(got))
		}
		got = got[1:]
	}
	if s.origin.saw("/smuggled/"+id) != nil {
		return errors.New("smuggled: the origin received a request that was part of another one")
	}
	marked := s.origin.saw("/marker/"+id) != nil
	if err := want.allows(got, marked); err != nil {
		return fmt.Errorf("%w: urnd answered %s", err, summary(got))
	}
	return nil
}

// allows returns an error unless these responses are permitted by the outcome; marked is set if the marker was
// processed as a request.
func (o outcome) allows(got []reply, marked bool) error {
	var status int
	if len(got) > 0 {
		status = got[0].status
	}
	isRefusal := status >= 400 && status < 500 || status == 501 || status == 505
	follows := marked || len(got) > 1
	switch {
	case len(got) > 2:
		return errors.New("more responses than requests")
	case status >= 500 && !isRefusal:
		return errors.New("the fault is the client's")
	case marked && len(got) < 2:
		return errors.New("the origin received the request behind it, but there is no second response")
	case o == refused && (follows || status != 0 && !isRefusal):
		return errors.New("it must be refused, and the connection closed")
	case o == declined && !isRefusal:
		return errors.New("it must be declined")
	case (o == answered || o == standalone) && (status == 0 || status >= 400):
		return errors.New("it is legal and must be answered")
	case o == answered && !follows:
		return errors.New("what follows it must be answered")
	case o == standalone && follows:
		return errors.New("the connection must be closed behind it")
	case o == either && status == 0 && follows:
		return errors.New("what follows was answered although it was not")
	default:
		return nil
	}
}

// summary describes responses for the report.
func summary(all []reply) string {
	var text []string
	for _, r := range all {
		text = append(text, fmt.Sprintf("%d %.60q", r.status, r.body))
	}
	return fmt.Sprintf("[%s]", strings.Join(text, ", "))
}
