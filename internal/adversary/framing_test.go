package adversary

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// outcome is what may happen to a request.
type outcome int

const (
	// refused: 4xx, 501, 505, or a closed connection; nothing behind it is answered, since
	// nobody knows where it ends.
	refused outcome = iota
	// declined: its end is known, and so what follows may be answered; it itself is not.
	declined
	// answered: it is legal, and so is what follows.
	answered
	// alone: it is answered, and the connection is closed.
	alone
	// either: recipients may refuse it, or answer it. They may not see another request in it.
	either
)

// request is a payload of HTTP/1.1. In its octets, {o} is the address of the origin, {id} is
// unique, and {smuggled} a request that only a wrong reading of another one contains.
type request struct {
	name, section, octets string
	want                  outcome
}

// framing are requests, and responses of origins, whose boundaries are unclear.
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

// requests turns requests into payloads.
func (s *stage) requests(family string, all []request) []payload {
	var payloads []payload
	for _, r := range all {
		id := s.id()
		octets := strings.NewReplacer("{smuggled}", "GET http://{o}/smuggled/{id} HTTP/1.1\r\nHost: {o}\r\n\r\n").Replace(r.octets)
		octets = strings.NewReplacer("{o}", s.origin.address, "{id}", id).Replace(octets)
		payloads = append(payloads, payload{
			name: r.name, section: r.section, shows: octets,
			play: func(ctx context.Context) error { return s.judgeRequest(ctx, octets, id, r.want) },
		})
	}
	return inFamily(family, payloads)
}

// judgeRequest sends a request with a marker behind it: a legal request that reaches the
// origin only where urnd believes that the first one has ended.
func (s *stage) judgeRequest(ctx context.Context, octets, id string, want outcome) error {
	marker := "GET http://" + s.origin.address + "/marker/" + id + " HTTP/1.1\r\nHost: " + s.origin.address + "\r\nConnection: close\r\n\r\n"
	method, _, _ := strings.Cut(octets, " ")
	got, err := converse(ctx, s.service, friend, octets+marker, method)
	if err != nil {
		return err
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

// allows returns an error unless these responses may be the outcome; marked is whether the
// marker was taken for a request.
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
	case (o == answered || o == alone) && (status == 0 || status >= 400):
		return errors.New("it is legal and must be answered")
	case o == answered && !follows:
		return errors.New("what follows it must be answered")
	case o == alone && follows:
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
