package admin

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/count"
	"github.com/urnd/urnd/resolver/registry/health"
)

// registryStatistics say how many names there are.
type registryStatistics struct {
	Seq    registry.Seq               `json:"seq,omitempty"` // of the last version, of the whole registry
	Groups map[string]registry.Totals `json:"groups,omitempty"`
	Total  registry.Totals            `json:"total"`
	// Complete is false where there was no time to count all.
	Complete bool `json:"complete"`
}

// nameCounts say how often a name was resolved, or all names together.
type nameCounts struct {
	Name    string        `json:"name,omitempty"`
	Periods []count.Count `json:"periods"`
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

// serveStatistics answers how often a name was resolved, or, with days and no name, all names together; or else how many names there
// are: of all they are kept, of what begins with a prefix they are counted, as far as that comes.
func (h *Handler) serveStatistics(c *call) (message.Reply, error) {
	given, err := parametersOf(c.Request, append(filters(), "uri", "since", "until")...)
	if err != nil {
		return message.Reply{}, err
	}
	if given["uri"] != "" {
		return h.countsOfName(c, given)
	}
	s, filtered, err := h.search(c, given)
	if err != nil {
		return message.Reply{}, err
	}
	if given["since"] != "" || given["until"] != "" {
		if filtered || s.Below != "" {
			return message.Reply{}, fmt.Errorf("%w: since and until are for one name (uri), or for all", problem.ErrSelection)
		}
		return h.counts(c, given, count.AllNames)
	}
	if !filtered && s.Below == "" {
		return h.totals(c)
	}
	document := registryStatistics{Complete: true}
	done, err := h.searchNames(c, s, func(e registry.Entry) error {
		document.Total.Add(&e, 1)
		return nil
	})
	document.Complete = !done.Late
	return message.JSON(http.StatusOK, document), err
}

// totals answers how many names there are.
func (h *Handler) totals(c *call) (message.Reply, error) {
	store := h.config.Registry.Names.Store()
	document := registryStatistics{Complete: true}
	var err error
	if document.Seq, err = store.Head(c.Context()); err != nil {
		return message.Reply{}, err
	}
	err = store.Read(c.Context(), func(tx registry.Tx) error {
		document.Groups, err = tx.Totals()
		return err
	})
	for _, totals := range document.Groups {
		document.Total = document.Total.Plus(totals)
	}
	return message.JSON(http.StatusOK, document), err
}

// countsOfName answers how often a name was resolved, by day.
func (h *Handler) countsOfName(c *call, given map[string]string) (message.Reply, error) {
	key, err := h.key(c, registry.Reader, given["uri"])
	if err != nil {
		return message.Reply{}, err
	}
	return h.counts(c, given, key.Name)
}

// counts answers how often a canonical name, or count.AllNames, was resolved, by day.
func (h *Handler) counts(c *call, given map[string]string, name string) (message.Reply, error) {
	var days [2]time.Time
	for i, name := range []string{"since", "until"} {
		if text := given[name]; text != "" {
			var err error
			if days[i], err = time.Parse(time.DateOnly, text); err != nil {
				return message.Reply{}, fmt.Errorf("%w: %s is a day, such as 2031-05-01", problem.ErrSelection, name)
			}
		}
	}
	document := nameCounts{Name: name, Periods: []count.Count{}}
	err := h.config.Registry.Names.Store().Read(c.Context(), func(tx registry.Tx) error {
		found, err := count.Of(tx, name, days[0], days[1])
		document.Periods = notNil(found)
		return err
	})
	return message.JSON(http.StatusOK, document), err
}

// serveHealth answers a page of the targets that were not healthy lately.
func (h *Handler) serveHealth(c *call) (message.Reply, error) {
	given, err := parametersOf(c.Request, "prefix", "state", "limit", "cursor")
	if err != nil {
		return message.Reply{}, err
	}
	limit, after, err := pageOf(given)
	if err != nil {
		return message.Reply{}, err
	}
	if state := given["state"]; state != "" && !slices.Contains(health.States(), health.State(state)) {
		return message.Reply{}, fmt.Errorf("%w: state is one of %v", problem.ErrSelection, health.States())
	}
	s, _, err := h.search(c, map[string]string{"prefix": given["prefix"]})
	if err != nil {
		return message.Reply{}, err
	}
	found, next, err := health.Page(c.Context(), h.config.Registry.Names.Store(), s.Below, after, limit)
	if err != nil {
		return message.Reply{}, err
	}
	document := healthPage{Targets: []targetHealth{}}
	for _, t := range found {
		if given["state"] == "" || given["state"] == string(t.State) {
			document.Targets = append(document.Targets, targetHealth{Name: t.Name, Target: t})
		}
	}
	if next != "" {
		document.Next = cursorOf(next)
	}
	return pageReply(c, document, document.Next), nil
}
