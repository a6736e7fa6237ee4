// Package api defines the JSON documents that the command line and the HTTP API share: the answer of a
// resolution, registry names, stored responses, explanations of the cache, and problem documents (RFC 9457).
// Values of packages resolver and registry enter; documents leave, and documents of registry names are also
// read. The OpenAPI documents describe the fields.
package api

import (
	"time"

	"github.com/urnd/urnd/resolver"
)

// Answer is the document of /api/v1/resolve, and of urnd resolve --output json.
type Answer struct {
	Input     string     `json:"input"`
	Canonical string     `json:"canonical"`
	Service   string     `json:"service"`
	Locations []Location `json:"locations"`
	Links     []Link     `json:"links,omitempty"` // links of the name that are not its locations
	TTL       int64      `json:"ttl"`             // seconds; negative when stale
	Cache     string     `json:"cache"`
	Record    *Record    `json:"record,omitempty"` // in the registry of the site
	Trace     []Step     `json:"trace,omitempty"`
}

// Location is a location of an Answer.
type Location struct {
	URI           string `json:"uri"`
	Source        string `json:"source"`
	Type          string `json:"type,omitempty"`
	Language      string `json:"language,omitempty"`
	Rel           string `json:"rel,omitempty"` // relation type, if specified
	Title         string `json:"title,omitempty"`
	Context       string `json:"context,omitempty"`       // audience, such as a country
	Authenticated bool   `json:"authenticated,omitempty"` // by DNSSEC
	Failing       bool   `json:"failing,omitempty"`       // its server has failed recently, or it is unhealthy
}

// Link is a link of a name that is not one of its locations: RFC 8288.
type Link struct {
	URI      string `json:"uri"`
	Rel      string `json:"rel"`
	Type     string `json:"type,omitempty"`
	Language string `json:"language,omitempty"`
	Title    string `json:"title,omitempty"`
	Context  string `json:"context,omitempty"`
	Anchor   string `json:"anchor,omitempty"` // name that has the link, if it is another one
}

// Step is a step of a trace.
type Step struct {
	Stage  string `json:"stage"`
	Code   string `json:"code"` // identifies the kind of step; stable, unlike Detail
	Detail string `json:"detail"`
	Micros int64  `json:"us"`                // microseconds since the start of the query
	Took   int64  `json:"took_us,omitempty"` // microseconds; 0 for a step without duration
}

// NewAnswer returns the document of an answer.
func NewAnswer(q resolver.Query, answer resolver.Answer, trace []resolver.Step) Answer {
	return Answer{
		Input: q.URI.String(), Canonical: answer.Name.String(), Service: q.Service.String(),
		Locations: Locations(answer.Locations), Links: links(answer.OtherLinks()),
		TTL: Seconds(answer.TTL), Cache: answer.Cache.String(), Record: NewRecord(answer.Record()), Trace: Steps(trace),
	}
}

// Locations returns the documents of locations, never nil.
func Locations(locations []resolver.Location) []Location {
	list := make([]Location, len(locations))
	for i, l := range locations {
		list[i] = Location{
			URI: l.URI, Source: l.From.Name, Type: l.From.Type, Language: l.From.Language,
			Authenticated: l.From.Authentic,
		}
		if r := l.From.Relation; r != nil {
			list[i].Rel, list[i].Title, list[i].Context = r.Rel, r.Title, r.Context
		}
	}
	return list
}

// links returns the documents of links.
func links(of []resolver.Link) []Link {
	var list []Link
	for _, l := range of {
		list = append(list, Link{
			URI: l.URI, Rel: l.Rel, Type: l.Type, Language: l.Language, Title: l.Title,
			Context: l.Context, Anchor: l.Anchor,
		})
	}
	return list
}

// Steps returns the documents of the steps of a trace.
func Steps(steps []resolver.Step) []Step {
	list := make([]Step, len(steps))
	for i, s := range steps {
		list[i] = Step{
			Stage: s.Stage, Code: s.Code, Detail: s.Detail, Micros: s.At.Microseconds(),
			Took: s.Took.Microseconds(),
		}
	}
	return list
}

// Entry is an entry of the answer cache.
type Entry struct {
	Key       string     `json:"key"`
	TTL       int64      `json:"ttl"` // seconds; negative when stale
	Locations []Location `json:"locations"`
	Reason    string     `json:"no,omitempty"` // reason of a negative answer
}

// NewEntry returns the document of a cached answer.
func NewEntry(r resolver.CachedAnswer) Entry {
	document := Entry{Key: r.Key, TTL: Seconds(r.TTL), Locations: Locations(r.Locations)}
	if r.Err != nil {
		document.Reason = r.Err.Error()
	}
	return document
}

// Seconds returns a duration in whole seconds.
func Seconds(d time.Duration) int64 { return int64(d / time.Second) }

// Response is a stored response of the HTTP cache.
type Response struct {
	Status int `json:"status"`
	// Spelling is the path and query that were sent in the request, "" for those of the normalized URI.
	Spelling string `json:"spelling,omitempty"`
	// Selecting contains the request header fields that select the response (RFC 9110 section 12.5.5); null
	// stands for a field that must be absent.
	Selecting    map[string]*string `json:"selecting"`
	Age          int64              `json:"age"`  // seconds
	TTL          int64              `json:"ttl"`  // seconds; negative when stale
	Size         int64              `json:"size"` // size of the content in bytes; -1 if not yet known
	ETag         string             `json:"etag,omitempty"`
	LastModified string             `json:"last_modified,omitempty"`
	// Where lists the stores that contain the content: memory, disk; none while it is being received.
	Where   []string `json:"where"`
	Tags    []string `json:"tags"`
	Partial bool     `json:"partial,omitempty"`
	Purged  bool     `json:"purged,omitempty"` // must be validated before use
}
