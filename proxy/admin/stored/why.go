package stored

import (
	"context"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/uri"
)

// Explained is what becomes of a GET for a URL, as the handler of requests explains it.
type Explained struct {
	Key, Spelling string
	Site          *api.WhySite // nil for none
	// CacheSetting is the setting that has the rules of its cache, each with its index as its last segment; "" without Site.
	CacheSetting string
	// Own is whether urnd itself answers, with Status and Location; then there is nothing in Cache.
	Own      bool
	Status   int
	Location string
	Cache    httpcache.Explanation
	Sent     *Sent // nil where it was not sent
	// Advice is what to write in the configuration to change what is for a reason, by its code.
	Advice map[string]string
}

// Sent is what became of the request.
type Sent struct {
	Status  int
	Outcome httpcache.Outcome
}

// Explain explains what becomes of a GET for a URL with some fields, and sends it before where send is set.
type Explain func(ctx context.Context, u uri.URI, fields httpmessage.Fields, send bool) (Explained, error)

// The outcomes of api.Why.
const (
	outcomeHit    = "hit"
	outcomeStale  = "stale"
	outcomeOrigin = "origin"
	outcomeOwn    = "urnd"
)

// Why implements api.Responses.
func (r Responses) Why(ctx context.Context, u uri.URI, fields httpmessage.Fields, send bool) (api.Why, error) {
	e, err := r.explain(ctx, u, fields, send)
	if err != nil {
		return api.Why{}, err
	}
	document := api.Why{
		URL: u.WithoutPassword().String(), Key: e.Key, Spelling: e.Spelling, Site: e.Site, Status: e.Status, Location: e.Location,
		Responses: make([]api.ExplainedResponse, 0, len(e.Cache.Stored)),
	}
	for i, info := range e.Cache.Stored {
		document.Responses = append(document.Responses, api.ExplainedResponse{
			Response: responseDocument(info), Selected: i == e.Cache.Selected, Received: info.Received.UTC().Format(time.RFC3339),
			FreshUntil: info.FreshUntil.UTC().Format(time.RFC3339), Lifetime: api.Seconds(info.Lifetime), LifetimeFrom: info.Source.String(),
		})
	}
	document.Outcome, document.Reason = outcomeOf(&e)
	if e.Cache.Rule >= 0 && e.CacheSetting != "" && !e.Own {
		document.Rule = ruleSetting(e.CacheSetting, e.Cache.Rule)
	}
	if e.Sent != nil {
		document.Sent = sentDocument(&e)
	}
	return document, nil
}

// outcomeOf returns what becomes of a request, and why.
func outcomeOf(e *Explained) (outcome string, why *api.Reason) {
	c := &e.Cache
	switch {
	case e.Own:
		return outcomeOwn, nil
	case c.Forwarded != "":
		var selected *httpcache.Info
		if c.Selected >= 0 {
			selected = &c.Stored[c.Selected]
		}
		code := forwardedCode(c.Forwarded, selected)
		return outcomeOrigin, words(code, e.Advice[code])
	case c.Stale:
		return outcomeStale, words(codeUsedStale, "")
	default:
		return outcomeHit, words(codeFresh, "")
	}
}

// sentDocument returns what became of a request that was sent.
func sentDocument(e *Explained) *api.SentRequest {
	o := e.Sent.Outcome
	document := &api.SentRequest{Status: e.Sent.Status, CacheStatus: o.Status("urnd"), Stored: o.Stored}
	if why := o.NotStored; why.Code() != "" {
		document.NotStored = &api.Reason{Code: why.Code(), Text: why.String(), Section: why.Section(), Advice: e.Advice[why.Code()]}
	}
	return document
}
