// Package api holds the JSON documents that the command line and HTTP share. Their fields
// are described by the OpenAPI documents.
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
	Links     []Link     `json:"links,omitempty"` // of the name, to which it does not lead
	TTL       int64      `json:"ttl"`             // seconds; negative when stale
	Cache     string     `json:"cache"`
	Record    *Record    `json:"record,omitempty"` // in the registry of the site
	Trace     []Step     `json:"trace,omitempty"`
}

// Location is one location of an Answer.
type Location struct {
	URI           string `json:"uri"`
	Source        string `json:"source"`
	Type          string `json:"type,omitempty"`
	Language      string `json:"language,omitempty"`
	Rel           string `json:"rel,omitempty"` // the relation type, where it is said
	Title         string `json:"title,omitempty"`
	Context       string `json:"context,omitempty"`       // for whom it is, such as a country
	Authenticated bool   `json:"authenticated,omitempty"` // by DNSSEC
	Failing       bool   `json:"failing,omitempty"`       // its server failed recently, or it is unhealthy
}

// Link is a link of a name to which it does not lead: RFC 8288.
type Link struct {
	URI      string `json:"uri"`
	Rel      string `json:"rel"`
	Type     string `json:"type,omitempty"`
	Language string `json:"language,omitempty"`
	Title    string `json:"title,omitempty"`
	Context  string `json:"context,omitempty"`
	Anchor   string `json:"anchor,omitempty"` // the name that has it, where that is another one
}

// Step is one step of a trace.
type Step struct {
	Stage  string `json:"stage"`
	Code   string `json:"code"` // what it was: other than Detail it stays
	Detail string `json:"detail"`
	Micros int64  `json:"us"`                // microseconds since the query began
	Took   int64  `json:"took_us,omitempty"` // microseconds; 0 for a step without duration
}

// NewAnswer returns the document of an answer.
func NewAnswer(q resolver.Query, answer resolver.Answer, trace []resolver.Step) Answer {
	return Answer{
		Input: q.URI.String(), Canonical: answer.Name.String(), Service: q.Service.String(),
		Locations: Locations(answer.Locations), Links: links(answer.Others()),
		TTL: Seconds(answer.TTL), Cache: answer.Cache.String(), Record: NewRecord(answer.Record()), Trace: Steps(trace),
	}
}

// Locations returns the documents of locations, never nil.
func Locations(locations []resolver.Location) []Location {
	list := make([]Location, len(locations))
	for i, l := range locations {
		list[i] = Location{URI: l.URI, Source: l.From.Name, Type: l.From.Type, Language: l.From.Language, Authenticated: l.From.Authentic}
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
		list = append(list, Link{URI: l.URI, Rel: l.Rel, Type: l.Type, Language: l.Language, Title: l.Title, Context: l.Context, Anchor: l.Anchor})
	}
	return list
}

// Steps returns the documents of the steps of a trace.
func Steps(steps []resolver.Step) []Step {
	list := make([]Step, len(steps))
	for i, s := range steps {
		list[i] = Step{Stage: s.Stage, Code: s.Code, Detail: s.Detail, Micros: s.At.Microseconds(), Took: s.Took.Microseconds()}
	}
	return list
}

// Entry is an entry of the cache of answers.
type Entry struct {
	Key       string     `json:"key"`
	TTL       int64      `json:"ttl"` // seconds; negative when stale
	Locations []Location `json:"locations"`
	Reason    string     `json:"no,omitempty"` // the reason of a negative answer
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
	// Spelling is the path and query that were sent for it, empty for those of the URI in normal form.
	Spelling string `json:"spelling,omitempty"`
	// Selecting are the fields of requests that select it; one that is null must be missing.
	Selecting    map[string]*string `json:"selecting"`
	Age          int64              `json:"age"`  // seconds
	TTL          int64              `json:"ttl"`  // seconds; negative when stale
	Size         int64              `json:"size"` // of the content, in bytes; -1 while it is unknown
	ETag         string             `json:"etag,omitempty"`
	LastModified string             `json:"last_modified,omitempty"`
	// Where is where the content is: memory, disk; in none while it arrives.
	Where   []string `json:"where"`
	Tags    []string `json:"tags"`
	Partial bool     `json:"partial,omitempty"`
	Purged  bool     `json:"purged,omitempty"` // it must be validated before it is used
}
