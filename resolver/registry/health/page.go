package health

import (
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// job is a target that is to be checked.
type job struct {
	name, uri string
	known     bool // there is a document of it
}

// page is a part of the walk.
type page struct {
	jobs []job
	gone []string // keys of documents of targets that no name has any more
	last string   // the last name that it passes, or the last key
	n    int      // how many names it passes
	end  bool     // there is none after it
}

// maxKnown bounds the documents that are read for a page.
const maxKnown = 1000

// readPage reads the names after one, at most n that begin with prefix, with their targets and what is known of these.
func readPage(tx registry.Tx, prefix, after string, n int, now time.Time) (p page, err error) {
	entries, err := tx.List(registry.KindName, prefix, after, n)
	if err != nil {
		return page{}, err
	}
	p.end = len(entries) < n
	if len(entries) > 0 {
		p.last = entries[len(entries)-1].Name
	}
	known, err := tx.Documents(registry.TableHealth, prefix, max(afterName(after), afterOwn), maxKnown)
	if err != nil {
		return page{}, err
	}
	if len(known) == maxKnown {
		if cut := lastWhole(known); p.end || cut < p.last {
			p.end, p.last = false, cut
		}
	}
	unseen := make(map[string]bool, len(known))
	for _, d := range known {
		if p.end || nameOf(d) <= p.last {
			unseen[d.Key] = true
		}
	}
	for _, e := range entries {
		if !p.end && e.Name > p.last {
			break
		}
		p.n++
		for _, uri := range targetsOf(e, now) {
			key := keyOf(e.Name, uri)
			p.jobs = append(p.jobs, job{e.Name, uri, unseen[key]})
			delete(unseen, key)
		}
	}
	for key := range unseen {
		p.gone = append(p.gone, key)
	}
	return p, nil
}

// lastWhole returns the last name of which all documents are among those that were read, or the only name.
func lastWhole(known []registry.Document) string {
	last := nameOf(known[len(known)-1])
	for i := len(known) - 1; i >= 0; i-- {
		if name := nameOf(known[i]); name != last {
			return name
		}
	}
	return last
}

func nameOf(d registry.Document) string {
	name, _, _ := strings.Cut(d.Key, " ")
	return name
}

// targetsOf returns where an entry leads now: nowhere unless it is active. What a prefix leads to depends on
// the rest of the name, and cannot be checked.
func targetsOf(e registry.Entry, now time.Time) []string {
	if e.Kind != registry.KindName || e.Status != registry.Active {
		return nil
	}
	var uris []string
	for _, t := range e.Targets {
		if t.ValidAt(now) {
			uris = append(uris, t.URI)
		}
	}
	return uris
}

// readDue reads the targets after a key that are not healthy, and are to be checked again.
func readDue(tx registry.Tx, after string, now time.Time, every time.Duration) (p page, err error) {
	known, err := tx.Documents(registry.TableHealth, "", after, maxKnown)
	if err != nil {
		return page{}, err
	}
	p.end = len(known) < maxKnown
	var keys []registry.Key
	var jobs []job
	for i, d := range known {
		p.last = d.Key
		t, err := targetOf(d)
		if err != nil {
			return page{}, err
		}
		if t.due(now, every) {
			jobs, keys = append(jobs, job{t.Name, t.URI, true}), append(keys, registry.Name(t.Name))
		}
		if len(jobs) == maxPage {
			p.end = p.end && i == len(known)-1
			break
		}
	}
	entries, err := tx.Entries(keys)
	if err != nil {
		return page{}, err
	}
	for i, j := range jobs {
		if slices.Contains(targetsOf(entries[i], now), j.uri) {
			p.jobs = append(p.jobs, j)
		} else {
			p.gone = append(p.gone, keyOf(j.name, j.uri))
		}
	}
	return p, nil
}
