package httpcache

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Answer is the response to one client. Its Content must be closed.
type Answer struct {
	Status int
	Reason string
	// Fields are shared with other answers, and must not be changed.
	Fields httpmessage.Fields
	// Added replace those of Fields that have their names.
	Added         httpmessage.Fields
	Trailer       *httpmessage.Trailer // complete at the end of Content; nil for none
	ContentLength int64                // -1 if unknown
	Content       Content              // nil for none
	From          netip.AddrPort       // whence the response came; the zero value where that is not known
	Outcome       Outcome
}

// answer returns the answer to a request from a stored response: the precondition of the client,
// its ranges, or all. validated is whether the origin has just said that it is right.
func (x *exchange) answer(ctx context.Context, s *stored, outcome Outcome, isValidated bool) (*Answer, error) {
	if x.r.Check != nil {
		if err := x.r.Check(s.from); err != nil {
			return nil, err
		}
	}
	now := x.cache.config.Now()
	s.uses.add(intervalOf(now))
	outcome.TTL, outcome.HasTTL = s.ttl(now), true
	outcome.Stale = outcome.TTL <= 0
	a := &Answer{Status: s.status, Reason: s.reason, Fields: s.fields(isValidated), ContentLength: s.length, From: s.from, Outcome: outcome}
	if age := s.age(now); !isValidated || age >= time.Second { // RFC 9111 section 5.1
		a.Added = append(make(httpmessage.Fields, 0, 2), httpmessage.Field{Name: "Age", Value: strconv.FormatInt(int64(age/time.Second), 10)})
	}
	if s.isUnmodified(x.r.Fields.Lines) {
		return unmodified(a), nil
	}
	if err := x.fill(ctx, a, s); err != nil {
		return nil, err
	}
	return a, nil
}

// unmodified makes an answer one with 304.
func unmodified(a *Answer) *Answer {
	a.Status, a.Reason, a.Fields, a.ContentLength, a.Content = http.StatusNotModified, "", notModified(a.Fields), -1, nil
	return a
}

// fill gives an answer its content, or the parts of it that the request asks for.
func (x *exchange) fill(ctx context.Context, a *Answer, s *stored) error {
	whole := span{0, -1}
	if s.length < 0 || !x.r.Fields.Has("Range") || s.status != http.StatusOK && !s.isPartial() || !s.rangeApplies(x.r.Fields.Value(ifRange)) {
		return x.open(ctx, a, s, whole)
	}
	asked := rangesOf(&x.r.Request, s.length)
	switch {
	case asked.unsatisfiable:
		a.Status, a.Reason, a.ContentLength = http.StatusRequestedRangeNotSatisfiable, "", 0
		a.Fields = refused(a.Fields)
		a.Added = httpmessage.FieldsOf("Content-Range", string(appendUnsatisfied(nil, s.length)))
		return nil
	case len(asked.spans) == 0, len(asked.spans) > 1 && !s.isComplete():
		return x.open(ctx, a, s, whole)
	}
	a.Status, a.Reason = http.StatusPartialContent, ""
	if len(asked.spans) == 1 {
		part := asked.spans[0]
		a.ContentLength = part.length()
		a.Added.Add("Content-Range", contentRangeOf(part, s.length))
		return x.open(ctx, a, s, span{part.start - s.part.start, part.end - s.part.start})
	}
	content, boundary, size, err := openParts(ctx, s.content, s.part.start, s.length, asked.spans, s.header.Lines("Content-Type"))
	if err != nil {
		return err
	}
	a.Content, a.ContentLength = content, size
	a.Added.Add("Content-Type", "multipart/byteranges; boundary="+boundary)
	return nil
}

// open gives an answer a part of the stored content, unless the request is HEAD.
func (x *exchange) open(ctx context.Context, a *Answer, s *stored, part span) error {
	if x.r.Method == http.MethodHead || s.content == nil {
		return nil
	}
	content, err := x.cache.open(ctx, s, part)
	a.Content = content
	return err
}
