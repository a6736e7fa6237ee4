package httpcache

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Response is the response to one client. The caller must close Content.
type Response struct {
	Status int
	Reason string
	// Fields are shared with other answers, and must not be changed.
	Fields httpmessage.Fields
	// Added replaces the fields of Fields that have the same names.
	Added         httpmessage.Fields
	Trailer       *httpmessage.Trailer // complete at the end of Content; nil for none
	ContentLength int64                // -1 if unknown
	Content       body.Content         // nil for none
	ServerAddr    netip.AddrPort       // address of the server that sent the response; the zero value if unknown
	Outcome       Outcome
}

// answer returns the answer to a request from a stored response: a 304 by the conditions of the client, its ranges,
// or the complete content. validated is whether the origin has just validated the response.
func (x *exchange) answer(ctx context.Context, s *stored, outcome Outcome, validated bool) (*Response, error) {
	if x.r.Check != nil {
		if err := x.r.Check(s.ServerAddr); err != nil {
			return nil, err
		}
	}
	now := x.cache.config.Now()
	s.uses.add(intervalOf(now))
	outcome.TTL, outcome.HasTTL = s.TTL(now), true
	outcome.Stale = outcome.TTL <= 0
	a := &Response{
		Status: s.Status, Reason: s.Reason, Fields: s.FieldsToSend(validated), ContentLength: s.Length,
		ServerAddr: s.ServerAddr,
		Outcome:    outcome,
	}
	if age := s.Age(now); !validated || age >= time.Second { // RFC 9111 section 5.1
		a.Added = make(httpmessage.Fields, 0, 2)
		a.Added.Add("Age", strconv.FormatInt(int64(age/time.Second), 10))
	}
	if s.Unmodified(x.r.Fields.Values) {
		return unmodified(a), nil
	}
	if err := x.fill(ctx, a, s); err != nil {
		return nil, err
	}
	return a, nil
}

// unmodified turns an answer into a 304.
func unmodified(a *Response) *Response {
	a.Status, a.Reason, a.Fields = http.StatusNotModified, "", rules.AppendNotModified(nil, a.Fields)
	a.ContentLength, a.Content = -1, nil
	return a
}

// fill sets the content of an answer: the requested ranges, or the whole.
func (x *exchange) fill(ctx context.Context, a *Response, s *stored) error {
	whole := rules.Span{Start: 0, End: -1}
	hasRanges := s.Length >= 0 && (s.Status == http.StatusOK || s.Partial())
	if !hasRanges || !x.r.Fields.Has("Range") || !s.RangeApplies(x.r.Fields.Get(rules.IfRange)) {
		return x.open(ctx, a, s, whole)
	}
	requested := rules.ParseRanges(nil, x.r.Method, x.r.Fields.Values("Range"), s.Length)
	switch {
	case requested.Unsatisfiable:
		a.Status, a.Reason, a.ContentLength = http.StatusRequestedRangeNotSatisfiable, "", 0
		a.Fields = rules.AppendUnsatisfiable(nil, a.Fields)
		a.Added = httpmessage.NewFields("Content-Range", string(rules.AppendUnsatisfiedRange(nil, s.Length)))
		return nil
	case len(requested.Spans) == 0, len(requested.Spans) > 1 && !s.arrived():
		return x.open(ctx, a, s, whole)
	}
	a.Status, a.Reason = http.StatusPartialContent, ""
	if len(requested.Spans) == 1 {
		part := requested.Spans[0]
		a.ContentLength = part.Length()
		a.Added.Add("Content-Range", string(rules.AppendContentRange(nil, part, s.Length)))
		return x.open(ctx, a, s, rules.Span{Start: part.Start - s.Part.Start, End: part.End - s.Part.Start})
	}
	contentType := s.Fields.Values("Content-Type")
	content, boundary, size, err := body.OpenParts(ctx, s.content, s.Part.Start, s.Length, requested.Spans, contentType)
	if err != nil {
		return err
	}
	a.Content, a.ContentLength = content, size
	a.Added.Add("Content-Type", "multipart/byteranges; boundary="+boundary)
	return nil
}

// open sets the content of an answer to a part of the stored content, unless the request is HEAD.
func (x *exchange) open(ctx context.Context, a *Response, s *stored, part rules.Span) error {
	if x.r.Method == http.MethodHead || s.content == nil {
		return nil
	}
	content, err := x.cache.storage.open(ctx, s, part)
	a.Content = content
	return err
}

// live returns the answer that streams a response of the origin to the client.
func (x *exchange) live(response *httpmessage.Response, outcome Outcome, content body.Content) *Response {
	a := &x.answered
	*a = Response{
		Status: response.Status, Reason: response.Reason, Fields: response.Fields, Trailer: response.Trailer,
		ContentLength: response.ContentLength, Content: content, ServerAddr: response.RemoteAddr, Outcome: outcome,
	}
	if !response.Fields.Has("Date") {
		a.Added.Add("Date", x.cache.config.Now().UTC().Format(http.TimeFormat))
	}
	return a
}

// fitted applies the preconditions and the ranges of the request to an answer with a complete response, if the
// origin has not done so. ownConditions is whether the origin received the conditions of the client.
func (x *exchange) fitted(ctx context.Context, a *Response, s *stored, ownConditions bool) *Response {
	if !ownConditions && s.Unmodified(x.r.Fields.Values) {
		a.Content.Close()
		a.Outcome.OriginStatus = s.Status
		return unmodified(a)
	}
	if !x.r.Fields.Has("Range") || s.Length < 0 {
		return a
	}
	part := *a
	part.Content, part.Trailer = nil, nil
	if err := x.fill(ctx, &part, s); err != nil {
		return a // the range is too far in the arriving body: send the whole, RFC 9110 section 14.2
	}
	a.Content.Close()
	if part.Status != s.Status {
		part.Outcome.OriginStatus = s.Status
	}
	return &part
}

// passThrough returns the answer by a response that only the leader of the flight receives.
func (x *exchange) passThrough(f *flight, response *httpmessage.Response) *Response {
	x.passed = f.passThrough(response)
	return x.live(response, x.outcome, &x.passed)
}
