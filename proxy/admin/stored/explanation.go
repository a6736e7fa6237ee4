package stored

import (
	"context"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/uri"
)

// Explanation is how the request handler serves a GET for a URL.
type Explanation struct {
	Key, Spelling string
	Site          *api.ExplainedSite // nil without a site
	// CacheSetting is the name of the setting with the cache rules of the site; the index of a rule is
	// appended. "" without Site.
	CacheSetting string
	// Own is true if urnd itself responds, with Status and Location; Cache is then the zero value.
	Own      bool
	Status   int
	Location string
	Cache    httpcache.Explanation
	Sent     *Sent // nil if the request was not sent
	// Advice is the change of the configuration that would remove a reason, by the code of the reason.
	Advice map[string]string
}

// Sent is the result of a request that was sent.
type Sent struct {
	Status  int
	Outcome httpcache.Outcome
}

// Explain explains how a GET for a URL with header fields is served. If send is set, it sends the request
// before.
type Explain func(ctx context.Context, u uri.URI, fields httpmessage.Fields, send bool) (Explanation, error)

// Outcomes of api.Explanation.
const (
	outcomeHit    = "hit"
	outcomeStale  = "stale"
	outcomeOrigin = "origin"
	outcomeOwn    = "urnd"
)

// Explain implements api.Responses.
func (r Responses) Explain(
	ctx context.Context, u uri.URI, fields httpmessage.Fields, send bool,
) (api.Explanation, error) {
	e, err := r.explain(ctx, u, fields, send)
	if err != nil {
		return api.Explanation{}, err
	}
	document := api.Explanation{
		URL: u.WithoutPassword().String(), Key: e.Key, Spelling: e.Spelling, Site: e.Site, Status: e.Status,
		Location:  e.Location,
		Responses: make([]api.ExplainedResponse, 0, len(e.Cache.Stored)),
	}
	for i, info := range e.Cache.Stored {
		document.Responses = append(document.Responses, api.ExplainedResponse{
			Response: responseDocument(info), Selected: i == e.Cache.Selected,
			Received: info.Received.UTC().Format(time.RFC3339), FreshUntil: info.FreshUntil.UTC().Format(time.RFC3339),
			Lifetime:     api.Seconds(info.Lifetime),
			LifetimeFrom: info.Source.String(),
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

// outcomeOf returns the outcome of a request, and its reason.
func outcomeOf(e *Explanation) (outcome string, why *api.Reason) {
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
		return outcomeOrigin, reasonText(code, e.Advice[code])
	case c.Stale:
		return outcomeStale, reasonText(codeUsedStale, "")
	default:
		return outcomeHit, reasonText(codeFresh, "")
	}
}

// sentDocument returns the result of a request that was sent.
func sentDocument(e *Explanation) *api.SentRequest {
	o := e.Sent.Outcome
	document := &api.SentRequest{Status: e.Sent.Status, CacheStatus: o.Status("urnd"), Stored: o.Stored}
	if why := o.NotStored; why.Code() != "" {
		document.NotStored = &api.Reason{
			Code: why.Code(), Text: why.String(), Section: why.Section(),
			Advice: e.Advice[why.Code()],
		}
	}
	return document
}
