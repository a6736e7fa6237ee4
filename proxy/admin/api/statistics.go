package api

import (
	"fmt"
	"net/http"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/health"
	"github.com/urnd/urnd/resolver/registry/service"
)

// registryStatistics are the numbers of names.
type registryStatistics struct {
	Seq    registry.Seq               `json:"seq,omitempty"` // of the last version in the whole registry
	Groups map[string]registry.Totals `json:"groups,omitempty"`
	Total  registry.Totals            `json:"total"`
	// Complete is false if the time limit of counting was reached.
	Complete bool `json:"complete"`
}

// nameCounts are the resolution counts of a name, or of all names.
type nameCounts struct {
	Name    string           `json:"name,omitempty"`
	Periods []registry.Count `json:"periods"`
}

// healthPage is a page of targets.
type healthPage struct {
	Targets []targetHealth `json:"targets"`
	Next    string         `json:"next,omitempty"`
}

type targetHealth struct {
	Name string `json:"name"`
	health.Target
}

// serveStatistics returns the resolution counts of a name (uri), or of all names (since or until without
// uri); otherwise the numbers of names. The numbers of the whole registry are maintained, those of a prefix
// are counted within a time limit.
func serveStatistics(c *call) (message.Reply, error) {
	if c.get("uri") != "" {
		return serveCounts(c)
	}
	search, err := service.ParseSearch(c.kind, c.get)
	if err != nil {
		return message.Reply{}, err
	}
	if c.get("since") != "" || c.get("until") != "" {
		if search.Prefix != "" || service.Filtered(&search) {
			return message.Reply{}, fmt.Errorf("%w: since and until cannot be combined with a selection other than uri",
				problem.ErrSelection)
		}
		return serveCounts(c)
	}
	t, err := c.service.Totals(c.Context(), c.actor, search)
	return message.JSON(http.StatusOK,
		registryStatistics{Seq: t.Seq, Groups: t.Groups, Total: t.Total, Complete: !t.TimedOut}), err
}

// serveCounts returns the daily resolution counts of a name, or of all names if "uri" is missing.
func serveCounts(c *call) (message.Reply, error) {
	since, until, err := service.ParseDays(c.get)
	if err != nil {
		return message.Reply{}, err
	}
	name, periods, err := c.service.Counts(c.Context(), c.actor, registry.Key{Kind: c.kind, Name: c.get("uri")},
		since, until)
	return message.JSON(http.StatusOK, nameCounts{Name: name, Periods: notNil(periods)}), err
}

// serveHealth returns a page of the targets that were unhealthy at their last checks.
func serveHealth(c *call) (message.Reply, error) {
	found, next, err := c.service.Health(c.Context(), c.actor, c.get("prefix"), health.State(c.get("state")), pageOf(c))
	document := healthPage{make([]targetHealth, len(found)), next}
	for i, t := range found {
		document.Targets[i] = targetHealth{Name: t.Name, Target: t}
	}
	return pageReply(c, document, next, next != ""), err
}
