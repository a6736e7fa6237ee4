package health

import (
	"slices"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// job is a target to check.
type job struct {
	name, uri string
	known     bool // the target is stored
}

// page is a part of the walk.
type page struct {
	jobs []job
	gone []registry.HealthKey // stored targets that no name has any more
	last string               // the last name of the page
	next registry.HealthKey   // the last key, of a page of due targets
	n    int                  // number of names
	end  bool                 // the last page
}

// maxKnown bounds the stored targets that are read for a page.
const maxKnown = 1000

// readPage reads the targets of at most n names that begin with prefix, after a name, and whether they are
// stored.
func readPage(tx registry.Tx, prefix, after string, n int, now time.Time) (p page, err error) {
	entries, err := tx.List(registry.KindName, prefix, after, n)
	if err != nil {
		return page{}, err
	}
	p.end = len(entries) < n
	if len(entries) > 0 {
		p.last = entries[len(entries)-1].Name
	}
	known, err := tx.Health(prefix, behind(after), "", maxKnown)
	if err != nil {
		return page{}, err
	}
	if len(known) == maxKnown {
		if cut := lastWhole(known); p.end || cut < p.last {
			p.end, p.last = false, cut
		}
	}
	unseen := make(map[registry.HealthKey]bool, len(known))
	for _, h := range known {
		if p.end || h.Name <= p.last {
			unseen[registry.HealthKeyOf(h.Name, h.URI)] = true
		}
	}
	for _, e := range entries {
		if !p.end && e.Name > p.last {
			break
		}
		p.n++
		for _, uri := range targetsOf(e, now) {
			key := registry.HealthKeyOf(e.Name, uri)
			p.jobs = append(p.jobs, job{e.Name, uri, unseen[key]})
			delete(unseen, key)
		}
	}
	for key := range unseen {
		p.gone = append(p.gone, key)
	}
	return p, nil
}

// lastWhole returns the last name whose stored targets were all read, or the only name.
func lastWhole(known []registry.Health) string {
	last := known[len(known)-1].Name
	for i := len(known) - 1; i >= 0; i-- {
		if name := known[i].Name; name != last {
			return name
		}
	}
	return last
}

// targetsOf returns the currently valid targets of an active name. Targets of a prefix depend on the rest of
// the name, and cannot be checked.
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

// readDue reads the stored targets after a key that have to be rechecked.
func readDue(tx registry.Tx, after registry.HealthKey, now time.Time, every time.Duration) (p page, err error) {
	kept, err := tx.Health("", after, "", maxKnown)
	if err != nil {
		return page{}, err
	}
	known, err := toTargets(kept)
	if err != nil {
		return page{}, err
	}
	p.end = len(known) < maxKnown
	var keys []registry.Key
	var jobs []job
	for i, t := range known {
		p.next = t.key()
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
			p.gone = append(p.gone, registry.HealthKeyOf(j.name, j.uri))
		}
	}
	return p, nil
}
